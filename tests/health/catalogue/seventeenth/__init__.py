"""A seventeenth set by someone who had not seen the rules: 7 that end in NaN, 21 that only fail to learn, 14 healthy.

Written as an acceptance test of what the findings claim to tell. How it went at first stands in the table. What is not
found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixteenth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, seventeenth set")

enter("courier", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="(reward - mean) / spread")
enter("imu_tilt", "acos at 1", "singular_gradient", cause=("acos",), code="tf.acos(cos)")
enter("next_click", "x / 0", "nonfinite_gradient", operations=("RealDiv",), code="total / count")
enter("pure_premium", "power of a negative", "nonfinite_loss", operations=("Pow",), code="tf.pow(mu, 1.0 - p)")
enter("taxonomy", "acosh at 1", "singular_gradient", cause=("acosh of exactly 1",), code="tf.acosh(")
enter("tones", "power of 0", "singular_gradient", cause=("power of 0",), code="tf.pow(power, 0.15)")
enter("ward_visits", "exp overflow", "exploding_gradient", operations=("Exp",), code="tf.exp(log_rate)")

enter("activity_watch", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter("arm", "loss that is not scaled", "loss_plateau", cause=("loss is not scaled",))
enter(
    "beat_types",
    "class weights the wrong way round",
    "loss_plateau",
    gap="the loss falls by what the frequent class gives; which weight belongs to which label is not looked at",
)
enter("beats", "data beyond what is given", "dead_units", cause=("mode collapse",))
enter("blobs", "posterior collapse", "dead_units", cause=("penalty",))
enter("char_writer", "targets that are the inputs", "loss_plateau", cause=("among what it is predicted",))
enter("circles", "collapsed representation", "dead_units", cause=("collapse",))
enter("fabric", "weights put back", "loss_plateau", cause=("average of the weights",))
enter(
    "feed_ranker",
    "terms of different size",
    "loss_plateau",
    cause=("drowns this one",),
)
enter(
    "field_direction",
    "loss that ascends",
    "loss_plateau",
    cause=("opposite of the targets",),
)
enter("motion", "regularisation too strong", "dead_units", cause=("penalty",))
enter("no2_calibration", "broadcast", "loss_plateau", cause=("broadcast",))
enter("opening_book", "data in order", "dead_units", cause=("single class",))
enter("opinions", "a mask the wrong way round", "loss_plateau", cause=("wrong way round",))
enter("option_surrogate", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("pump", "recurrence that is cut", "loss_plateau", cause=("stop_gradient",))
enter(
    "rooms",
    "weights of a loss that are trained",
    "loss_plateau",
    cause=("at the cost of these predictions",),
)
enter("string_modes", "posterior collapse", "dead_units", cause=("penalty",))
enter("ticket_router_again", "attention to nothing", "loss_plateau", "zero_gradient", cause=("wrong way round",))
enter("tickets", "start of zeros", "zero_gradient", cause=("began at exactly 0",))
enter("voices", "minimum over masked entries", "loss_plateau", code="near_other", cause=("masked entries",))

enter_healthy(HERE / "healthy")
