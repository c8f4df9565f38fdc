"""A twelfth set by someone who had not seen the rules: nine that end in NaN, 18 that only fail to learn, 16 healthy.

One defect of each family that the studies name. How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.eleventh import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twelfth set")

enter("bike_hire", "exp overflow", "nonfinite_activation", operations=("Exp",), code="tf.exp(level)")
enter("credit_equal_chances", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(good)")
enter("ecg_beats_anew", "NaN in the data", "nonfinite_input", cause=("NaN",))
enter("flat_rents", "rsqrt(0)", "nonfinite_activation", operations=("Rsqrt",), code="tf.math.rsqrt")
enter("gene_panel_selection", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.norm")
enter("motor_premium", "power of 0", "nonfinite_loss", operations=("Pow",), code="tf.pow(y_pred, 1.0 - p)")
enter(
    "road_speeds",
    "exploding gradient",
    "nonfinite_loss",
    "exploding_gradient",
    cause=("neighbours",),
    gap="found; that a sum over neighbours makes the numbers grow layer by layer is not said",
)
enter("shop_next_click", "masked softmax", "nonfinite_activation", operations=("Softmax",), code="tf.nn.softmax")
enter("spoken_digits", "where after NaN", "loss_scale_floor", operations=("RealDiv",), code="tf.where(t == 0.0")

enter("arm_kinematics", "bad initialisation", "saturated_activation", cause=("start too large",))
enter("bearing_faults_anew", "vanishing gradient", "vanishing_gradient", cause=("start too small",))
enter("blob_vae", "posterior collapse", "dead_units", cause=("penalty",))
enter("cell_centres", "dying ReLU", "dead_units", cause=("bias holds every unit",))
enter(
    "ecg_delineation",
    "gradients that are never cleared",
    "exploding_gradient",
    cause=("not those of the batch",),
)
enter("event_logs", "learning rate too high", "lr_too_high", cause=("learning rate",))
enter("film_taste", "start of zeros", "zero_gradient", cause=("began at exactly 0",))
enter("meter_digits_again", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter(
    "paper_topics",
    "left out of the optimizer",
    "missing_gradient",
    cause=("does not know",),
)
enter(
    "reservoir_level",
    "exploding gradient",
    "exploding_gradient",
    gap="told of the large steps that its gradient makes, and not of the recurrence that it grew in",
)
enter(
    "river_stage",
    "wrong output for the loss",
    "saturated_activation",
    gap="three outputs for each target, behind a reshape: what they are asked for is not known",
)
enter("scan_shapes", "normalisation of one", "zero_gradient", cause=("batch of one",))
enter("settlement_operator", "float16 underflow", "zero_gradient", cause=("Underflow in float16",))
enter(
    "solar_yield",
    "unscaled targets",
    "loss_plateau",
    "dead_units",
    cause=("targets are not scaled",),
    gap="told of the units that die of it, with inputs as the cause",
)
enter("speaker_id_again", "softmax twice", "loss_plateau", cause=("softmax before a loss",))
enter(
    "subscriber_churn",
    "unscaled inputs",
    "dead_units",
    gap="the loss falls to a fortieth of its start, and is a thousand times that of guessing still",
)
enter("ticket_routing_anew", "padding read last", "loss_plateau", "dead_units", cause=("padding stands",))
enter("wrist_activity", "labels that do not fit", "loss_plateau", cause=("labels",))

enter_healthy(HERE / "healthy")
