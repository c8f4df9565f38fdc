"""A twenty-sixth set by two who had not seen the rules: 2 that end in NaN, 14 that only fail to learn, 6 healthy.

They were first played as users have it, within the default budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentyfifth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-sixth set")

enter("arm_posture", "log(0)", "nonfinite_loss", operations=("Log",), code="ops.log(ops.sum(")
enter("signature_desk", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(")

enter("bearing_views", "outputs that collapse", "loss_plateau", cause=("nothing in the loss holds",))
enter("cart_positioning", "shapes that broadcast", "loss_plateau", code="GAMMA", cause=("broadcast",))
enter(
    "clock_phrases",
    "target among the inputs",
    "loss_plateau",
    cause=("among what it is predicted from",),
)
enter(
    "counter_visits",
    "rate for its logarithm",
    "loss_plateau",
    code="tf.nn.log_poisson_loss(",
    cause=("in place of its logarithm",),
)
enter("crack_map", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("digit_strings", "softmax twice", "loss_plateau", code="tf.reduce_mean(", cause=("applied twice",))
enter("motif_graphs", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter(
    "pallet_localiser",
    "images turned without their targets",
    "loss_plateau",
    gap="that four numbers are places in an image is not known",
)
enter("playlist_ranker", "factors that begin at 0", "zero_gradient", cause=("began at exactly 0",))
enter("pump_residual", "variables that Keras does not know", "missing_gradient", cause=("Keras does not know",))
enter("review_mood", "padding that is read", "loss_plateau", cause=("padding stands",))
enter("rod_cooling", "second derivative of relus", "loss_plateau", cause=("no second derivative",))
enter(
    "station_forecast",
    "inputs of different size",
    "loss_plateau",
    gap="columns that stand far apart and hardly move are not told from such as are constant",
)
enter("ticket_desks", "a mask the wrong way round", "loss_plateau", cause=("wrong way round",))

enter_healthy(HERE / "healthy")
