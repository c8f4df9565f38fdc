"""A sixty-first set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

What its writer holds for a fair sample of what people report, of supervised learning, whether or not an earlier set has
it. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtieth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-first set")

enter("cancer_screen", "softmax over one", "loss_plateau", cause=("A softmax over one unit",))
enter("clinic_stay", "NaN in the data", "nonfinite_input", cause=("The data hold NaN",))
enter("credit_limit", "unscaled inputs", "loss_plateau", cause=("column 3 is over",))
enter("energy_demand", "unscaled targets", "exploding_gradient", cause=("The targets are not scaled",))
enter("fraud_alarm", "class weights", "loss_plateau", cause=("The class weights grow",))
enter("fruit_sorting", "learning rate too high", "lr_too_high", "dead_units", cause=("The learning rate is too high",))
enter("glucose_level", "activation and targets", "saturated_activation", cause=("does not fit the targets",))
enter("heart_rhythm_lxi", "frozen as made", "missing_gradient", cause=("never came into the layers",))
enter("leaf_species_lxi", "pairs torn apart", "loss_plateau", code="tf.data.Dataset.zip((image_data, label_data))")
enter("loan_default_lxi", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(p)")
enter("motor_fault", "vanishing through depth", "vanishing_gradient", cause=("Saturating activations",))
enter("news_topics_lxi", "padding behind the words", "loss_plateau", cause=("Padding stands at the end",))
enter("review_rating_lxi", "0 / 0", "nonfinite_activation", operations=("RealDiv",), code="total / count")
enter("signature_pairs_lxi", "sqrt at 0", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(")
enter("ticket_routing_lxi", "float16 overflow", "nonfinite_activation", operations=("Cast",), code="1.0 - keep")
enter("tide_height", "a column and a vector", "loss_plateau", code="forecast - height")

enter_healthy(HERE / "healthy")
