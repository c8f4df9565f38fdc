"""An eighth set by someone who had not seen the rules: fourteen that end in NaN.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.health.catalogue.broken import broken
from tests.health.catalogue.play import script
from tests.health.catalogue.seventh import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
EAGER = "the loop runs eagerly, and nothing is seen inside its custom gradient"


def enter(name: str, family: str, *kinds: str, **more: Any) -> None:
    """Enters a broken script in the catalogue."""
    broken(family, "written blind, eighth set", *kinds, **more)(script(HERE / "broken" / f"{name}.py"))


enter(
    "bearing_transfer", "0 / 0 in a gradient", "nonfinite_gradient", operations=("RealDiv",), code="tf.norm(", gap=EAGER
)
enter(
    "churn_events",
    "softmax of -inf alone",
    "nonfinite_gradient",
    operations=("Cast",),
    code="tf.cast(-1e9",
    cause=("overflows float16",),
)
enter("icu_deterioration", "1 / 0 in the data", "nonfinite_input", layer="column 8")
enter("lowlight_raw", "where after NaN", "singular_gradient", operations=("Pow",), code="tf.pow(linear")
enter("occupation_net", "exp overflow", "nonfinite_gradient", operations=("Exp",), code="tf.exp((self.level")
enter("parcel_segmenter", "learning rate that is NaN", "nonfinite_weight", cause=("learning rate itself",))
enter("slate_dpp", "singular matrix", "nonfinite_loss", operations=("Cholesky",), code="tf.linalg.cholesky(kernel)")
enter(
    "solubility_graphs",
    "maximum of nothing",
    "nonfinite_activation",
    operations=("MatMul",),
    cause=("maximum over nothing",),
)
enter("stock_assessment", "log of a negative", "nonfinite_activation", operations=("Log",), code="tf.math.log(series")
enter("taxonomy_ball", "acosh at 1", "nonfinite_gradient", operations=("AcoshGrad",), code="tf.math.acosh(")
enter("tsdf_shape", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.norm(slope")
enter("turbine_stream", "variance that vanishes", "nonfinite_activation", operations=("Rsqrt",), code="rsqrt(variance")
enter("wind_nowcast", "atan2 of nothing", "singular_gradient", operations=("RealDiv",), code="tf.math.atan2(pred")
enter("zone_forecast", "exp overflow", "nonfinite_loss", operations=("Exp",), code="tf.exp(-log_var)")
