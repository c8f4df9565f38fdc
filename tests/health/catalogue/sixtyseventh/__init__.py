"""A sixty-seventh set by one who had not seen the rules: 5 that end in NaN, 9 that only fail to learn, 4 healthy.

What engineers in companies and competitions train, whatever earlier sets have. They were first played as users have
it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtysixth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-seventh set")

enter(
    "address_twins",
    "sqrt at 0",
    "singular_gradient",
    operations=("SqrtGrad",),
    code="tf.sqrt(squared)",
    layer="encoder",
)
enter("bakery_orders", "log of 0 in the data", "nonfinite_input", layer="target", cause=("The data hold infinite",))
enter("canteen_meals", "a column and a vector", "loss_plateau", code="tf.square(actual - forecast)")
enter("cinema_takings", "unscaled targets", "exploding_gradient", cause=("The targets are not scaled",))
enter(
    "compressor_hum",
    "activation and targets",
    "saturated_activation",
    layer="rebuilt",
    cause=("does not fit the targets",),
)
enter("flat_listings", "terms of different size", "loss_plateau", layer="sold_fast", cause=("drowns this one",))
enter("gym_leavers", "softmax over one", "loss_plateau", layer="leaves", cause=("A softmax over one unit",))
enter(
    "helpdesk_topics",
    "logits for probabilities",
    "loss_plateau",
    layer="topic_scores",
    cause=("Scores are taken for probabilities",),
)
enter("leaf_outline", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - y_pred)")
enter("parcel_tariff", "0 / 0 in the data", "nonfinite_input", layer="column 4", cause=("The data hold NaN",))
enter("podcast_genres", "schedule in epochs", "loss_plateau", cause=("schedule has taken it away",))
enter(
    "recipe_matcher",
    "tower outside of the tape",
    "missing_gradient",
    code="recipe_tower(recipe, training=True)",
    cause=("The tape has not recorded",),
)
enter(
    "stamp_digits",
    "learning rate too high",
    "lr_too_high",
    "dead_units",
    cause=("The learning rate is too high",),
)
enter("vineyard_grades", "pairs torn apart", "loss_plateau", cause=("The labels do not belong to the inputs",))

enter_healthy(HERE / "healthy")
