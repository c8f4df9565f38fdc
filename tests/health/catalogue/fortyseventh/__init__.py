"""A forty-seventh set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

One of each family of the studies again, after the forty-sixth. They were first played as users have it, within the
default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortysixth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-seventh set")

enter("avalanche_bulletin", "scaled twice", "loss_plateau", cause=("adapted to data that are not",))
enter("bat_roost", "bias that kills relu", "dead_units", cause=("bias holds every unit",))
enter("bridge_strain_xv", "reshape for a transpose", "loss_plateau", cause=("reshape where axes should",))
enter(
    "cellar_tasting",
    "overflow of a product",
    "nonfinite_loss",
    "nonfinite_gradient",
    code="tf.reduce_prod(remaining, axis=1)",
    cause=("product of many numbers",),
)
enter("coral_cores", "NaN targets", "nonfinite_input", cause=("without a usable label",))
enter("geyser_interval", "start at zero", "dead_units", layer="mixture_head", cause=("starts at a constant",))
enter("mushroom_basket", "power of 0", "nonfinite_loss", operations=("Pow",), code="ops.power(y_pred, 1.0 - P)")
enter("patent_sections", "softmax of several labels", "loss_plateau", cause=("each label is to be told by itself",))
enter("shelf_hashing", "function without a gradient", "zero_gradient", cause=("an operation whose slope is 0",))
enter("shell_profile", "KL term too heavy", "dead_units", cause=("stronger than the rest",))
enter("stitch_faults", "rate that is compounded", "loss_plateau", code="lr * 0.93", cause=("share of the first one",))
enter("theatre_cues", "recurrence that forgets", "loss_plateau", cause=("does not reach its end",))
enter("tremor_alarm", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="/ tf.reduce_sum(labels)")
enter("whale_codas", "tile for repeat", "loss_plateau", code="np.tile", cause=("a reshape keeps those of a sample",))

enter_healthy(HERE / "healthy")
