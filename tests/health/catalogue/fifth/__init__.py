"""A fifth set by someone who had not seen the rules, after the studies: scripts as users write them, with the one line.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.broken import LOGS, NONFINITE
from tests.health.catalogue.fourth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifth set")

# -- NaN or Inf -------------------------------------------------------------------------------------------------------

enter("bike_rentals", "exp overflow", *NONFINITE, operations=("Exp",), code="tf.exp(z)", cause=("exponential",))
enter("delivery_times", "exp overflow", *NONFINITE, operations=("Exp",), code="1.0 + tf.exp(x)", cause=("exponential",))
enter("symbol_images", "log(0)", *NONFINITE, operations=LOGS, code="1.0 - y_pred", cause=("logarithm",))
enter("stock_control_agent", "log(0)", *NONFINITE, operations=LOGS, code="tf.math.log(p)", cause=("logarithm",))
enter("news_topics", "0 / 0", *NONFINITE, operations=("RealDiv",), code="counts / total", cause=("division",))
enter("photo_denoise", "power of 0", *NONFINITE, code="tf.pow(linear", cause=("power of 0",))
enter("machine_vibration", "1 / sqrt(0)", *NONFINITE, operations=("Rsqrt",), code="rsqrt(var)", cause=("square root",))
enter("gaze_angle", "acos at 1", *NONFINITE, operations=("Acos", "Reciprocal"), code="tf.acos(cosine)", cause=("acos",))
enter("face_triplets", "sqrt(0)", "singular_gradient", code="tf.sqrt(d2)", cause=("square root",))
enter(
    "review_sentiment", "softmax of -inf alone", *NONFINITE, operations=("Softmax",), code="softmax", layer="attention"
)
enter(
    "house_prices",
    "exploding gradient",
    "exploding_gradient",
    "nonfinite_activation",
    "lr_too_high",
    cause=("learning rate", "not scaled"),
)

# -- nothing breaks, and nothing good is learned ----------------------------------------------------------------------

enter("customer_churn", "softmax of one", "zero_gradient", cause=("softmax on a single number",))
enter("fashion_items", "logits for probabilities", "zero_gradient", "loss_plateau", cause=("from_logits",))
enter("energy_use", "dying ReLU", "dead_units", cause=("learning rate is too high", "died"))
enter("wine_quality", "vanishing gradient", "vanishing_gradient", layer="block_0", cause=("saturating",))
enter("patient_risk", "start of zeros", "dead_units", layer="vitals", cause=("start at 0",))
enter("product_hashing", "no slope", "zero_gradient", layer="enc_hidden", cause=("an operation whose slope is 0",))
enter(
    "support_tickets",
    "frozen by mistake",
    "missing_gradient",
    cause=("pretrained weights never came",),
)
enter("plant_leaves", "unscaled inputs", "saturated_activation", layer="leaf1", cause=("inputs are not scaled",))
enter("river_level", "learning rate too low", "loss_plateau", cause=("learning rate is too small",))
enter("fraud_score", "learning rate too high", "lr_too_high", cause=("learning rate is too high",))
enter("car_fuel", "targets that broadcast", "loss_plateau", cause=("broadcast",))

# -- healthy ----------------------------------------------------------------------------------------------------------

enter_healthy(HERE / "healthy")
