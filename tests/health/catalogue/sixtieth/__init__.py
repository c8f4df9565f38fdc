"""A sixtieth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Mostly of networks that play, draw, compare and simulate, without what the last sets had. They were first played as
users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftyninth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixtieth set")

enter("date_writer", "a state that is never handed over", "missing_gradient", cause=("does not depend",))
enter("flat_listing_lx", "one task outweighs another", "zero_gradient", cause=("Another term of the loss",))
enter("frost_panel", "epsilon lost in float16", "nonfinite_activation", cause=("0 in float16",), code="self.epsilon")
enter("hive_audio", "one batch alone", "loss_plateau", cause=("begins anew at each",))
enter("leaf_pairs", "missing stop_gradient", "loss_plateau", cause=("outputs collapse",))
enter("lens_pupil", "logarithms for probabilities", "loss_plateau", cause=("is given their logarithms",))
enter("metro_links", "exp overflows", "nonfinite_activation", operations=("Exp",), code="tf.exp(score)")
enter("orchard_scan", "0 / 0", "nonfinite_gradient", operations=("RealDiv",), code="g / norm")
enter("pulse_forge", "the wrong variables", "missing_gradient", cause=("never trained",))
enter("raft_pilot", "a column and a vector", "loss_plateau", code="returns - values")
enter("spiral_drift", "another noise", "loss_plateau", code="tf.random.normal(tf.shape(x0))")
enter("spring_lab", "variables unknown to Keras", "missing_gradient", cause=("does not know of some variables",))
enter(
    "vat_kinetics",
    "a simulation that runs away",
    *("nonfinite_weight", "nonfinite_loss", "nonfinite_gradient", "exploding_gradient"),
    cause=("The gradient has exploded",),
)
enter("wave_tutor", "weights that are set back", "loss_plateau", code="model.set_weights(")

enter_healthy(HERE / "healthy")
