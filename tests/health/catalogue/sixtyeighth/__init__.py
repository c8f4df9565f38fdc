"""A sixty-eighth set by one who had not seen the rules: 5 that end in NaN, 9 that only fail to learn, 4 healthy.

What students and researchers implement from papers, whatever earlier sets have. They were first played as users have
it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtyseventh import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-eighth set")

enter("berth_choice", "log of 0", "nonfinite_loss", operations=("Log",), code="probs * tf.math.log(probs)")
enter("cloud_fractions", "log of 0", "nonfinite_activation", operations=("Log",), code="tf.math.log(1.0 - x)")
enter(
    "depot_grid",
    "target network that is never synchronised",
    "missing_gradient",
    cause=("The target network is never synchronised",),
)
enter("digit_patches", "learning rate too high", "lr_too_high", cause=("The learning rate is too high",))
enter("ferry_docking", "a column and a vector", "loss_plateau", code="taken * advantages")
enter("finch_calls", "sqrt at 0", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(distances)")
enter(
    "forum_sections",
    "softmax of -Inf",
    "nonfinite_activation",
    operations=("Softmax",),
    layer="masked_self_attention",
    cause=("A softmax over nothing but -Inf",),
)
enter(
    "gauge_faces",
    "posterior collapse",
    "dead_units",
    layer="encoder",
    cause=("stronger than the rest of the loss",),
)
enter("glaze_swatches", "random numbers drawn once", "loss_plateau", code="np.random", cause=("inside a compiled",))
enter("melody_steps", "future that is seen", "loss_plateau", cause=("looks at the times to come",))
enter("press_rollers", "recurrence that grows", "nonfinite_loss", cause=("The state grows along the recurrence",))
enter(
    "skewer_heat",
    "second derivative of relus",
    "loss_plateau",
    code="outer.gradient(u_x, x)",
    cause=("no second derivative",),
)
enter(
    "tide_curves",
    "activation and data",
    "saturated_activation",
    layer="generator",
    cause=("The data are not on the scale",),
)
enter(
    "trade_links",
    "variables that Keras does not know",
    "missing_gradient",
    code="= tf.Variable(",
    layer="conv_b",
    cause=("Keras does not know",),
)

enter_healthy(HERE / "healthy")
