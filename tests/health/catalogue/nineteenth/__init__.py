"""A nineteenth set by someone who had not seen the rules: 14 that only fail to learn, 3 healthy.

One of each family that does not end in NaN, right after the eighteenth set had mended the rules: do they hold for
others of the same families? How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.eighteenth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, nineteenth set")

enter("catalog", "regularisation too strong", "dead_units", cause=("penalty",))
enter("claims", "terms of different size", "loss_plateau", cause=("drowns this one",))
enter("fields", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter("incidents", "left out of the optimizer", "missing_gradient", cause=("never trained",))
enter("junctions", "vanishing gradient", "dead_units", cause=("start too small for the depth",))
enter("lightcurves", "wrong output for the targets", "saturated_activation", cause=("does not fit the targets",))
enter("loops", "unscaled inputs", "zero_gradient", cause=("inputs are not scaled",))
enter("ndvi", "learning rate too high", "dead_units", "loss_plateau", cause=("learning rate is too high",))
enter("pairs", "broadcast", "loss_plateau", cause=("broadcast",))
enter("phrases", "labels that say nothing", "loss_plateau", cause=("do not belong to the inputs",))
enter("rating", "disconnected", "missing_gradient", cause=("Round",), code="tf.round(")
enter("sparse_spectra", "dying ReLU", "zero_gradient", "dead_units", cause=("Units that died",))
enter(
    "telematics", "saturation", "saturated_activation", cause=("What enters the sigmoid is too large",), code="/ self"
)
enter("tempo", "learning rate that falls to 0", "loss_plateau", cause=("schedule has taken it away",))

enter_healthy(HERE / "healthy")
