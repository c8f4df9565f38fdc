"""A sixty-sixth set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

Written after the studies of bugs, as the sixty-fourth: one of each of the kinds they count most of. They were first
played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtyfifth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-sixth set")

enter("bus_delay", "a column and a vector", "loss_plateau", code="tf.square(y - pred)")
enter(
    "chiller_faults",
    "vanishing through depth",
    "vanishing_gradient",
    layer="hidden_1",
    cause=("Saturating activations",),
)
enter(
    "cinema_pairs",
    "pairs torn apart",
    "loss_plateau",
    code="tf.data.Dataset.zip((pair_ds, star_ds))",
    cause=("shuffled independently",),
)
enter("claims_router", "learning rate too low", "loss_plateau", cause=("The learning rate is too small",))
enter("estuary_gauge", "unscaled targets", "nonfinite_loss", cause=("The targets are not scaled",))
enter("gym_renewal", "softmax over one", "loss_plateau", layer="renewed", cause=("A softmax over one unit",))
enter("hotel_remarks", "padding at the end", "loss_plateau", layer="reader", cause=("Padding stands at the end",))
enter("kiln_sensors", "NaN in the data", "nonfinite_input", layer="column 5", cause=("The data hold NaN",))
enter(
    "leaf_scanner",
    "learning rate too high",
    "lr_too_high",
    "dead_units",
    cause=("The learning rate is too high",),
)
enter(
    "mussel_rings",
    "unscaled inputs",
    "saturated_activation",
    layer="hidden_1",
    cause=("The inputs are not scaled",),
)
enter(
    "parcel_sorter",
    "logits for probabilities",
    "loss_plateau",
    layer="head",
    cause=("Scores are taken for probabilities",),
)
enter(
    "podcast_shelf",
    "0 / 0",
    "nonfinite_activation",
    operations=("RealDiv",),
    code="total / count",
    layer="profile",
)
enter("postal_glyphs", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - y_prob)")
enter(
    "scale_panels",
    "left out of the optimizer",
    "missing_gradient",
    layer="decoder/dec_1",
    cause=("Some variables are never trained",),
)
enter("tile_dreams", "unscaled inputs", "nonfinite_weight", layer="to_log_var", cause=("The inputs are not scaled",))
enter("tram_dispatch", "log of 0", "nonfinite_loss", operations=("Log",), code="probs * tf.math.log(probs)")

enter_healthy(HERE / "healthy")
