"""A twenty-second set by three who had not seen the rules: 14 that end in NaN, 21 that only fail to learn, 10 healthy.

How it went at first stands in the table. With it two of the twenty-first set that were left out there, and what was
healthy and told, or may be at another time. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentyfirst import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-second set")

enter("alloy_gp", "singular matrix", "nonfinite_loss", operations=("Cholesky",), code="tf.linalg.cholesky(k)")
enter("assay_panel", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(sq, axis=0) /")
enter("buoy_waves", "NaN in the data", "nonfinite_input", cause=("The data hold NaN",))
enter("gait_pairs", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt(tf.reduce_sum")
enter("helpdesk_router", "optimizer without an epsilon", "nonfinite_weight", cause=("The optimizer turned",))
enter("kiln_moisture", "learning rate too high", "exploding_gradient", cause=("learning rate is too high",))
enter("leaf_reid", "exp overflow", "nonfinite_loss", operations=("Exp", "Mul"), code="tf.exp(logit_n)")
enter("loom_vibration", "exploding gradient", "nonfinite_loss", cause=("recurrence of",))
enter("rating_curve", "where after NaN", "nonfinite_gradient", operations=("Pow",), code="tf.pow(depth")
enter("reacher_policy", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - tf.square(a))")
enter("sonar_bearing", "acos at 1", "singular_gradient", cause=("acos, asin or atanh",), code="tf.acos(")
enter("turbine_temp", "sqrt of a negative", "nonfinite_activation", operations=("Sqrt",), code="tf.sqrt(var + 1e-4)")
enter(
    "ward_stays", "softmax over nothing", "nonfinite_activation", operations=("Softmax",), code="tf.nn.softmax(scores"
)
enter("whale_calls", "float16 overflow", "nonfinite_activation", cause=("overflows float16",), layer="energy_pooling")

enter("bike_rental", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter("crack_detector", "dying ReLU", "dead_units", cause=("bias holds every unit below 0",))
enter("ecg_beats_gan", "frozen by mistake", "missing_gradient", cause=("never thawed",))
enter("ecg_ectopic", "wrong axis", "zero_gradient", cause=("axis of length one",))
enter("elevator_dispatch", "broadcast", "loss_plateau", cause=("broadcast",), code="log_prob * advantage")
enter("flat_prices", "unscaled targets", "loss_plateau", cause=("targets are not scaled",))
enter("galaxy_redshift", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("gearbox_state", "vanishing gradient", "vanishing_gradient", cause=("Saturating activations",))
enter("grid_load", "regularisation too strong", "dead_units", cause=("outweighs the loss",))
enter("leaf_blight", "labels that say nothing", "loss_plateau", cause=("do not belong to the inputs",))
enter(
    "leaf_spots",
    "images turned without their masks",
    "loss_plateau",
    code="augment(",
    cause=("do not lie upon one another",),
)
enter("moth_species", "frozen by mistake", "missing_gradient", cause=("pretrained weights never came",))
enter("music_tags", "several labels for one", "loss_plateau", cause=("each label is to be told by itself",))
enter("pos_tagger", "inverted mask of the loss", "zero_gradient", cause=("keeps the padding",))
enter("reservoir_change", "wrong output for the targets", "saturated_activation", cause=("does not fit the targets",))
enter("review_scores", "label out of range", "loss_plateau", cause=("counted from 1",))
enter(
    "signature_twins",
    "labels the other way round",
    "loss_plateau",
    cause=("labels of the pairs",),
)
enter("sleep_stage", "layer made in every call", "loss_plateau", cause=("made where the model is called",))
enter("support_topics", "learning rate too high", "dead_units", "lr_too_high", cause=("learning rate is too high",))
enter("taxi_minutes", "unscaled inputs", "loss_plateau", cause=("inputs are not scaled",))
enter("ticket_queue", "padding read last", "loss_plateau", cause=("padding stands",))
enter(
    "warehouse_paths",
    "target network that is never synchronised",
    "missing_gradient",
    cause=("never synchronised",),
)
enter("wind_days", "a game that nobody plays", "loss_plateau", cause=("discriminator's label",))
enter_healthy(HERE / "healthy")
