"""A sixty-fifth set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

What people ask about in forums when they adapt tutorials to data of their own, whatever earlier sets have. They were
first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtyfourth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-fifth set")

enter(
    "barley_reviews",
    "0 / 0",
    "nonfinite_activation",
    operations=("RealDiv",),
    code="total / tf.reduce_sum(keep, axis=1)",
    layer="mean_of_words",
)
enter("cello_timbres", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - p)")
enter(
    "choir_sections",
    "vanishing through depth",
    "vanishing_gradient",
    layer="voice_0",
    cause=("Saturating activations",),
)
enter(
    "ferry_tickets",
    "sqrt at 0",
    "singular_gradient",
    operations=("SqrtGrad",),
    code="tf.sqrt(total)",
    layer="distance",
)
enter("goat_collars", "padding at the end", "loss_plateau", layer="diary", cause=("Padding stands at the end",))
enter(
    "harbor_buoys",
    "learning rate too high",
    "dead_units",
    "lr_too_high",
    cause=("The learning rate is too high",),
)
enter(
    "heron_ratings",
    "variables that Keras does not know",
    "missing_gradient",
    code="= tf.Variable(",
    layer="users and items of factors",
    cause=("Keras does not know",),
)
enter("loom_tension", "a column and a vector", "loss_plateau", code="tf.square(y - predicted)")
enter("orchid_sepals", "softmax over one", "loss_plateau", layer="hybrid", cause=("A softmax over one unit",))
enter(
    "parcel_depots",
    "pairs torn apart",
    "loss_plateau",
    code="tf.data.Dataset.zip((features, labels))",
    cause=("shuffled independently",),
)
enter("peat_cores", "unscaled inputs", "exploding_gradient", cause=("The inputs are not scaled",))
enter(
    "pottery_kilns",
    "scaled twice",
    "loss_plateau",
    code="tf.cast(image, tf.float32) / 255.0",
    layer="rescaling",
    cause=("divided by their range twice",),
)
enter(
    "puffin_rings",
    "both lower the score",
    "loss_plateau",
    code="bce(tf.zeros_like(fake_score), fake_score)",
    cause=("uses the discriminator's label",),
)
enter(
    "quarry_plumes",
    "labels out of range",
    "saturated_activation",
    layer="plume",
    cause=("labels from 0 to 255",),
)
enter(
    "silo_humidity",
    "activation and targets",
    "saturated_activation",
    layer="next_hour",
    cause=("does not fit the targets",),
)
enter("tram_axles", "0 / 0 in the data", "nonfinite_input", layer="column 6", cause=("The data hold NaN",))

enter_healthy(HERE / "healthy")
