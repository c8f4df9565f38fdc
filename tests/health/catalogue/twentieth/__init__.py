"""A twentieth set by two who had not seen the rules: 23 that only fail to learn, 9 that end in NaN, 6 healthy.

The same families as the eighteenth and nineteenth, and those that these had left out. How it went at first stands in
the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.nineteenth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twentieth set")

enter("equaliser", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt(re * re")
enter("read_counts", "where after NaN", "nonfinite_gradient", operations=("Log",), code="tf.where(counts > 0")
enter("rollout", "exploding gradient", "nonfinite_activation", cause=("Numbers too large",), layer="dense_1")
enter("gauges", "0 * infinity", "nonfinite_loss", operations=("RealDiv",), code="1.0 / tf.square(sigma)")
enter("returns", "variance that vanishes", "nonfinite_activation", operations=("RealDiv",), code="(x - mean) / std")
enter("traffic", "float16 overflow", "nonfinite_activation", cause=("overflows float16",), layer="power_pool")
enter("segment", "exp overflow", "nonfinite_loss", operations=("Exp",), code="tf.exp(scores)")
enter("cells", "softmax over nothing", "nonfinite_activation", cause=("softmax over nothing",), layer="attention")
enter("terrain", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(upper - lower)")

enter("actions", "wrong output for the targets", "loss_plateau", cause=("A softmax where a sigmoid is meant",))
enter("approach", "left out of the optimizer", "missing_gradient", cause=("never",))
enter("basket", "weights that start equal", "dead_units", cause=("starts at a constant",))
enter("ber", "settings of the optimizer", "loss_plateau", cause=("epsilon",))
enter(
    "calls",
    "vanishing over a sequence",
    "loss_plateau",
    cause=("early in a sequence",),
)
enter(
    "cooccur",
    "regularisation too strong",
    "dead_units",
    cause=("penalty",),
    gap="how much of the loss is a penalty on outputs is not told, and the outputs shrink to a third only",
)
enter("core", "terms of different size", "loss_plateau", cause=("drowns this one",))
enter("demand", "loss that ascends", "exploding_gradient", cause=("below 0",))
enter("engines", "broadcast", "loss_plateau", cause=("broadcast",), code="per_pair =")
enter("grains", "dying ReLU", "dead_units", cause=("bias holds every unit below 0",))
enter(
    "hits",
    "unscaled inputs",
    "loss_plateau",
    cause=("inputs",),
    gap="the loss falls by what the one wide column tells; what a normalisation leaves of each column is not looked at",
)
enter("laps", "data in order", "loss_plateau", cause=("come in order",))
enter("methyl", "float16 underflow", "zero_gradient", cause=("Underflow in float16",))
enter("modrec", "missing normalization", "dead_units", cause=("grow from layer to layer",))
enter("passes", "saturation", "saturated_activation", cause=("inputs are not scaled", "too large"))
enter(
    "policy",
    "sum where a mean belongs",
    "loss_plateau",
    cause=("drowns",),
    gap="the terms of a loss are not told apart: a sum that outweighs the error has made the error small as well",
)
enter("pose", "clip that hides", "zero_gradient", cause=("cap on the loss",), code="tf.where(err < c2")
enter(
    "reads",
    "padding",
    "loss_plateau",
    cause=("mask",),
    gap="what number stands for padding is not known",
)
enter("regimes", "disconnected", "missing_gradient", cause=("ArgMax",), code="tf.argmax(gate")
enter("sessions", "learning rate too high", "dead_units", cause=("learning rate is too high",))
enter("traps", "labels that say nothing", "loss_plateau", cause=("do not belong to the inputs",))
enter("visits", "learning rate that falls to 0", "loss_plateau", cause=("has taken it away",))
enter("weather", "representation collapse", "dead_units", cause=("nothing in the loss holds different samples apart",))

enter_healthy(HERE / "healthy")
