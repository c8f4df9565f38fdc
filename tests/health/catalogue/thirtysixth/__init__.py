"""A thirty-sixth set by two who had not seen the rules: one that ends in NaN, 17 that only fail to learn, 7 healthy.

One half are of the less usual kinds, one half are what people ask for help with. They were first played as users have
it, within the default budget. An eighth healthy one, of labels that hardly anything tells, is left out: it ends at next
to guessing, and is told of.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtyfifth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-sixth set")

enter("bike_counts", "exchanged arguments", "loss_plateau", code="poisson(y_pred, y_true)", cause=("exchanged",))
enter(
    "book_ranker",
    "negatives of a part",
    "loss_plateau",
    gap="what is never drawn leaves no trace in the statistics of what is",
)
enter("concrete_strength_vi", "broadcast", "loss_plateau", code="yb - pred", cause=("broadcast",))
enter("contract_clauses", "learning rate too high", "loss_plateau", "dead_units", cause=("learning rate",))
enter("curve_diffusion", "noise schedule", "loss_plateau", code="* noise", cause=("cumulative product",))
enter("load_horizons", "one layer for all outputs", "loss_plateau", layer="dense_1", cause=("same layer",))
enter("lung_crackles", "softmax of one", "loss_plateau", cause=("softmax over one unit",))
enter("nuclei_unet_vi", "labels scaled down", "loss_plateau", cause=("scaled down",))
enter("pole_dqn", "a return beyond the end", "loss_plateau", code="goal = r", cause=("beyond the end",))
enter("pollen_transfer", "frozen as made", "missing_gradient", cause=("never came into",))
enter("river_stage_vi", "unscaled inputs", "saturated_activation", cause=("inputs are not scaled",))
enter("satellite_tiles", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter(
    "session_items",
    "target among the inputs",
    "loss_plateau",
    cause=("among what it is", "are the same array"),
)
enter("signature_pairs_vi", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(tf.reduce_sum")
enter("texture_codes_vi", "no gradient", "loss_plateau", code="tf.gather(self.codes", cause=("straight-through",))
enter("ticket_topics_vi", "unknown words", "dead_units", "loss_plateau", cause=("not found in the vocabulary",))
enter("voice_embedding", "minimum over masked entries", "loss_plateau", code="reduce_min", cause=("masked entries",))
enter("warehouse_robot_vi", "one array for all states", "loss_plateau", cause=("same array",))

enter_healthy(HERE / "healthy")
