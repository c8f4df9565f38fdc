"""A sixty-third set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

What its writer holds for a fair sample of what people ask about, in the style of questions and answers of forums. They
were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtysecond import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-third set")

enter(
    "bicycle_rentals",
    "log of a negative",
    "nonfinite_loss",
    operations=("Log",),
    code="tf.math.log(y_pred + 1.0)",
    cause=("The logarithm of a negative number",),
)
enter("claim_approval", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - y_pred)")
enter("greenhouse_climate", "0 / 0 in the data", "nonfinite_input", layer="column 3", cause=("The data hold NaN",))
enter("handwriting_sheets", "learning rate too high", "dead_units", cause=("The learning rate is too high",))
enter("hotel_comments", "padding at the end", "loss_plateau", cause=("Padding stands at the end",))
enter("loan_book", "unscaled inputs", "loss_plateau", cause=("column 4 is over",))
enter("midterm_results", "activation and targets", "saturated_activation", cause=("does not fit the targets",))
enter("numeral_triplets", "sqrt at 0", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(")
enter("plant_survey", "vanishing through depth", "vanishing_gradient", cause=("Saturating activations",))
enter("postal_numerals", "logits for probabilities", "loss_plateau", cause=("Scores are taken for probabilities",))
enter("postcode_vae", "unscaled inputs", "nonfinite_weight", cause=("The inputs are not scaled",))
enter("stamp_catalog", "pairs torn apart", "loss_plateau", code="np.random.shuffle(train_labels)")
enter("suburb_prices", "unscaled targets", "exploding_gradient", cause=("The targets are not scaled",))
enter("telecom_contracts", "softmax over one", "loss_plateau", cause=("A softmax over one unit",))
enter("texture_swatches", "frozen as made", "missing_gradient", cause=("never came into the layers",))
enter("tyre_wear", "a column and a vector", "loss_plateau", code="tf.square(y - predictions)")

enter_healthy(HERE / "healthy")
