"""A fifty-fourth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Of models and layers that people build themselves, and how these are trained. They were first played as users have it,
within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftythird import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-fourth set")

enter("ad_pairs", "factors that start at zero", "zero_gradient", cause=("began at exactly 0",))
enter(
    "assembly_order",
    "positions along the batch",
    "loss_plateau",
    cause=("which is the batch",),
)
enter(
    "bakery_sales",
    "ids that are scaled",
    "loss_plateau",
    code="tf.cast(rows[:, 0]",
    cause=("scaled together",),
)
enter(
    "barometer_fronts",
    "root of a negative number",
    "nonfinite_activation",
    operations=("Rsqrt",),
    code="tf.math.rsqrt(var + self.epsilon)",
)
enter("glaze_codebook", "gradient cut at codes", "loss_plateau", cause=("straight-through estimator",))
enter("greenhouse_heads", "one layer for all outputs", "loss_plateau", cause=("is used in 3 places",))
enter("lab_bags", "softmax of nothing", "nonfinite_activation", operations=("Softmax",), code="tf.nn.softmax(raw")
enter(
    "order_notes",
    "mask that is lost",
    "loss_plateau",
    cause=("hands on no mask",),
)
enter("pollen_counter", "power of 0", "singular_gradient", operations=("Pow",), code="1.0 / self.p")
enter(
    "rope_strain",
    "sums cleared too seldom",
    "exploding_gradient",
    code="clear_stored()",
    cause=("not set back to zero after each update",),
)
enter("sensor_drift", "normalisation over an axis of one", "dead_units", "loss_plateau", cause=("input_norm gave 0",))
enter("spark_dictionary", "log of a negative number", "nonfinite_loss", operations=("Log",), code="(1 - self.rate)")
enter(
    "tremor_forecast",
    "a model that sees its target",
    "loss_plateau",
    cause=("times to come",),
)
enter(
    "valve_experts",
    "layers that Keras does not find",
    "missing_gradient",
    cause=("Keras does not find",),
)

enter_healthy(HERE / "healthy")
