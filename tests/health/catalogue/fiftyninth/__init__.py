"""A fifty-ninth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Mostly of labelled data and of series, without what the last sets had. They were first played as users have it, within
the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftyeighth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-ninth set")

enter("bird_calls_lix", "one batch alone", "loss_plateau", code="next(iter(train_ds))")
enter("bone_ages", "outputs that are clipped", "zero_gradient", cause=("Outputs are clipped before the loss",))
enter("clinic_followup", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(ev)")
enter("field_cover", "classes from 1", "loss_plateau", cause=("counted from 1",))
enter("film_history", "softmax of nothing", "nonfinite_gradient", operations=("Softmax",), code="tf.nn.softmax(")
enter("gear_vibration", "one array many times", "loss_plateau", cause=("One array is filled again",))
enter("grocery_baskets", "labels of one class", "loss_plateau", cause=("lost their classes",))
enter("parcel_boxes_lix", "infinite targets", "nonfinite_input", layer="columns 2 and 3")
enter("pump_alarms", "weights that are averaged away", "loss_plateau", cause=("average of the weights",))
enter("siren_clips", "float16 overflows", "nonfinite_activation", operations=("Sum",), code="tf.reduce_sum(tf.square(")
enter("ticket_topics_lix", "words that are unknown", "loss_plateau", cause=("vocabulary does not hold",))
enter("tide_gauge_lix", "one number normalised", "loss_plateau", cause=("an axis of one element",))
enter("valve_events", "words without places", "loss_plateau", cause=("no position embedding",))
enter("weave_photos", "brightness of other images", "loss_plateau", cause=("scale of 0 to 255",))

enter_healthy(HERE / "healthy")
