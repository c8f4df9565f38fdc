"""A twenty-third set by three who had not seen the rules: 11 that end in NaN, 24 that only fail to learn, 9 healthy.

Their families are those of the published studies and taxonomies. How it went at first stands in the table. What is not
found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentysecond import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-third set")

enter("arm_mixture", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(likelihood)")
enter("bearing_wear", "0 / 0", "nonfinite_activation", operations=("RealDiv",), layer="window_norm")
enter("bird_triplets", "mean of nothing", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(active")
enter("card_focal", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(")
enter("gaze_angles", "acos at 1", "singular_gradient", operations=("Acos", "Reciprocal", "Mul"), code="tf.acos(")
enter("leaf_pooling", "power of 0", "singular_gradient", operations=("Pow", "Mul"), code="tf.pow(x, self.p)")
enter("rain_counter", "exploding gradient", "nonfinite_activation", layer="simple_rnn", cause=("until it overflows",))
enter("review_rating", "float16 overflow", "nonfinite_activation", code="-1e9", cause=("float16 cannot hold",))
enter("seismic_denoise", "exp overflow", "nonfinite_gradient", operations=("Exp", "Mul"), code="tf.exp(x)")
enter("signature_traces", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt(")
enter("tide_forecast", "learning rate that is NaN", "nonfinite_weight", cause=("learning rate itself",))

enter(
    "ad_placement",
    "a sign that is wrong",
    "loss_plateau",
    cause=("sign",),
    gap="which place was chosen is not known to the gradient: what a policy is rewarded for looks like any target",
)
enter(
    "battery_charge", "targets that broadcast", "loss_plateau", cause=("broadcast",), code="tf.square(prediction - y)"
)
enter("battery_health", "dropout too strong", "dead_units", cause=("dropout rate is too high",))
enter("bearing_condition", "vanishing gradient", "vanishing_gradient", cause=("Saturating activations",))
enter("boiler_demand", "gates that are stuck", "saturated_activation", cause=("inputs are not scaled",))
enter("card_claims", "dying ReLU", "dead_units", cause=("bias holds every unit below 0",))
enter("claim_screening", "class weights", "loss_plateau", cause=("class weights grow",))
enter("concrete_strength", "normalisation in evaluation", "loss_plateau", cause=("without `training=True`",))
enter("course_ratings", "left out of the optimizer", "loss_plateau", cause=("Keras does not know",))
enter("fringe_denoise", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("grain_images", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter("grid_quarters", "optimizer that is made anew", "loss_plateau", cause=("new optimizer in the loop",))
enter("intent_tagger", "logits for probabilities", "loss_plateau", cause=("from_logits=True",))
enter("meter_total", "start too large", "loss_plateau", cause=("recurrence of",))
enter("movie_factors", "start of zeros", "zero_gradient", cause=("began at exactly 0",))
enter("product_tags", "several labels for one", "loss_plateau", cause=("each label is to be told by itself",))
enter(
    "river_gauges_pair", "wrong output for one of two", "saturated_activation", layer="change", cause=("does not fit",)
)
enter("seismic_pick", "places that are pooled away", "loss_plateau", cause=("where something stands is lost",))
enter("spot_localiser", "disconnected", "missing_gradient", cause=("ArgMax",), code="argmax")
enter("ticket_topics", "a mask the wrong way round", "loss_plateau", cause=("wrong way round",), code="ops.equal(")
enter("tile_landcover", "labels that do not fit", "loss_plateau", cause=("do not belong to the inputs",))
enter("van_loads", "learning rate too high", "lr_too_high", cause=("learning rate is too high",))
enter("wafer_defects", "inputs scaled to nothing", "dead_units", "loss_plateau", cause=("next to nothing",))
enter("warehouse_robot", "target network that is never synchronised", "missing_gradient", cause=("never synchronised",))
enter_healthy(HERE / "healthy")
