"""A forty-eighth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

One of each family of the studies again, after the forty-seventh. They were first played as users have it, within the
default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortyseventh import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-eighth set")

enter("bicycle_frames", "tile for repeat", "loss_plateau", code="np.repeat(kind, 4)", cause=("other laid end to end",))
enter(
    "cheese_ripening_xv",
    "rate that is compounded",
    "loss_plateau",
    code="rate * 0.97**epoch",
    cause=("share of the first one",),
)
enter(
    "coin_hashes",
    "function without a gradient",
    "zero_gradient",
    operations=("Sign",),
    code="tf.sign(soft)",
    cause=("slope is 0",),
)
enter("firework_effects", "softmax of several labels", "loss_plateau", cause=("each label is to be told by itself",))
enter(
    "greenhouse_leaves",
    "penalty too strong",
    "loss_plateau",
    gap="a penalty on activations is not told from the rest of the loss",
)
enter("ice_core", "gates that start open", "vanishing_gradient", cause=("Gates start open",))
enter("kiln_cracks", "bias that kills relu", "dead_units", cause=("bias holds every unit",))
enter("lighthouse_log", "scaled by wrong statistics", "loss_plateau", cause=("wrong mean and spread",))
enter("museum_visits", "constant start", "dead_units", layer="holders", cause=("starts at a constant",))
enter("stamp_pairs", "overflow of an exponential", "nonfinite_loss", operations=("Exp",), code="tf.exp(sims)")
enter("tea_grades", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(onehot, axis=0)")
enter("traffic_lights", "reshape for a transpose", "loss_plateau", cause=("reshape where axes should",))
enter(
    "violin_strings",
    "where after the NaN",
    "nonfinite_gradient",
    operations=("RealDiv", "Reciprocal"),
    code="ops.sin(x) / x",
)
enter("wind_farm", "logarithm of 0", "nonfinite_loss", operations=("Log",), code="ops.log(speed / scale)")

enter_healthy(HERE / "healthy")
