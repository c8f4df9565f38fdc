"""A sixty-second set by one who had not seen the rules: 6 that end in NaN, 9 that only fail to learn, 6 healthy.

Written like the set before it, in the style of repositories with trainers and loops of their own. A tenth, of a rate
that is too high, learned when it was played, and is left out.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtyfirst import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-second set")

enter("cell_screen", "a rate that goes away", "loss_plateau", cause=("schedule has taken it away",))
enter("date_rewriter", "softmax twice", "loss_plateau", code="sparse_softmax_cross_entropy_with_logits")
enter("delivery_value", "a column and a vector", "loss_plateau", code="td = returns - values")
enter("digit_pairs", "sqrt at 0", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(")
enter("dock_pilot", "NaN in the data", "nonfinite_input", cause=("The data hold NaN", "The labels hold NaN"))
enter("engine_coder", "exp overflows", "nonfinite_activation", operations=("Exp",), code="return mean +")
enter("film_ratings_lxii", "activation and targets", "saturated_activation", cause=("does not fit the targets",))
enter("glyph_coder", "posterior collapse", "dead_units", cause=("A penalty on the output",))
enter("grain_sorter", "sums that are never set back", "exploding_gradient", cause=("sums that are never set back",))
enter("moon_sampler", "another noise", "loss_plateau", code="noise = tf.random.normal(tf.shape(x0))")
enter("paper_graph", "messages that grow", "exploding_gradient", cause=("The weights start too large",))
enter("parcel_boxes_lxii", "sqrt below 0", "nonfinite_loss", operations=("Sqrt",), code="tf.sqrt(pred.wh)")
enter("phrase_tagger", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(ce * weights)")
enter("plant_twins", "cosines made smaller", "loss_plateau", code="* self.temperature")
enter("ring_forger", "both lower the score", "loss_plateau", cause=("uses the discriminator's label",))

enter_healthy(HERE / "healthy")
