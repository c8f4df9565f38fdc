"""A seventieth set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

What is reported in the issues of projects, and what goes wrong in first projects, whatever earlier sets have. They were
first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtyninth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, seventieth set")

enter(
    "allele_panel",
    "sqrt at 0",
    "singular_gradient",
    operations=("SqrtGrad",),
    code="tf.sqrt(tf.reduce_sum(tf.square(w), axis=1))",
    layer="additive",
)
enter("beacon_packets", "softmax of one", "zero_gradient", layer="attention/score", cause=("axis of length one",))
enter("breast_biopsy", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - y_pred)")
enter(
    "coin_sorter",
    "vanishing through depth",
    "vanishing_gradient",
    layer="hidden1",
    cause=("Saturating activations through many layers",),
)
enter("heart_questionnaire", "softmax over one", "loss_plateau", layer="dense_2", cause=("A softmax over one unit",))
enter(
    "helpdesk_tickets",
    "softmax of -Inf",
    "nonfinite_activation",
    operations=("Softmax",),
    code="tf.nn.softmax(scores, axis=-1)",
    layer="attend",
    cause=("A softmax over nothing but -Inf",),
)
enter(
    "herb_species",
    "logits for probabilities",
    "loss_plateau",
    layer="dense_1",
    cause=("Scores are taken for probabilities",),
)
enter(
    "lathe_signal",
    "variance that vanishes",
    "nonfinite_activation",
    operations=("RealDiv",),
    code="(x - mean) / tf.sqrt(",
    layer="window_norm",
)
enter("notebook_digits", "0 / 0 in the data", "nonfinite_input", layer="columns 0", cause=("The data hold NaN",))
enter(
    "pallet_photos",
    "loss that is summed",
    "lr_too_high",
    "dead_units",
    cause=("The loss is the sum over the batch",),
)
enter("parcel_census", "never adapted", "loss_plateau", layer="norm", cause=("adapt(...)` is missing",))
enter("phone_motion", "learning rate too high", "dead_units", "lr_too_high", cause=("learning rate is too high",))
enter(
    "rental_district",
    "a column and a vector",
    "loss_plateau",
    code="tf.square(rent - predicted)",
    cause=("A broadcast of",),
)
enter(
    "stall_sales",
    "rate that is compounded",
    "loss_plateau",
    code="lr * 0.5**epoch",
    cause=("share of the first one",),
)
enter("tractor_resale", "unscaled inputs", "exploding_gradient", cause=("The inputs are not scaled",))
enter(
    "tram_lateness",
    "activation and targets",
    "saturated_activation",
    layer="dense_2",
    cause=("does not fit the targets",),
)

enter_healthy(HERE / "healthy")
