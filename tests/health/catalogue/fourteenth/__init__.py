"""A fourteenth set by someone who had not seen the rules: four that end in NaN, 11 that only fail to learn, 14 healthy.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirteenth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fourteenth set")

enter("arm_inverse", "log(0)", "nonfinite_loss", operations=("Log",), code="ops.log")
enter("dock_demand", "exp overflow", "exploding_gradient", "nonfinite_loss", operations=("Exp",), code="exp")
enter("session_intent", "masked softmax", "nonfinite_activation", "nonfinite_loss", operations=("Softmax",))
enter("signature_match", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt")

enter(
    "bearing_transfer_anew",
    "frozen by mistake",
    "missing_gradient",
    cause=("pretrained weights never came",),
)
enter("dispatch_queue", "an axis taken for another", "zero_gradient", layer="pool")
enter("fog_forecast", "evaluation while training", "loss_plateau", layer="scale", cause=("as in evaluation",))
enter("gait_vae", "posterior collapse", "loss_plateau", "dead_units", cause=("penalty",))
enter("greenhouse_control", "broadcast", "loss_plateau", "dead_units", cause=("greenhouse_control.py:",))
enter("keystroke_user", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter(
    "leaf_lesions",
    "images turned without their masks",
    "loss_plateau",
    code="random_flip",
    cause=("do not lie upon one another",),
)
enter("log_triage_again", "gradients that are never cleared", "exploding_gradient", cause=("not those of the batch",))
enter(
    "paper_topics_again",
    "labels that do not fit",
    "loss_plateau",
    gap="neighbours' features and a few that fit by accident are learned, and the rest by heart",
)
enter(
    "playlist_factors",
    "drawn once for all",
    "loss_plateau",
    cause=("Random numbers of Python",),
)
enter(
    "press_cycle",
    "short type",
    "loss_plateau",
    gap="the inputs have lost what is asked for before they are given; a third of it is learned all the same",
)

enter_healthy(HERE / "healthy")
