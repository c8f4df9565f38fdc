"""A thirteenth set by someone who had not seen the rules: four that end in NaN, 11 that only fail to learn, 14 healthy.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twelfth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirteenth set")

enter("bird_calls_anew", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(probability)")
enter("call_centre", "exp overflow", "nonfinite_activation", operations=("Exp",))
enter("signature_pairs_anew", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt")
enter("ward_notes", "masked softmax", "nonfinite_activation", operations=("Softmax",), code="tf.nn.softmax")

enter(
    "ad_slots",
    "policy that redraws its action",
    "loss_plateau",
    code="categorical(",
    cause=("not the action that was taken",),
)
enter("address_parser", "inverted mask of the loss", "zero_gradient", cause=("keeps the padding",))
enter(
    "battery_cells",
    "weights put back",
    "loss_plateau",
    cause=("average",),
)
enter(
    "ceramic_tiles",
    "posterior collapse",
    "dead_units",
    cause=("penalty",),
)
enter("ecg_leads", "normalisation of one number", "dead_units", "zero_gradient", cause=("gave 0 for every sample",))
enter("machine_alarms", "padding read last", "loss_plateau", "dead_units", cause=("padding stands",))
enter("podcast_picks", "start of zeros", "zero_gradient", cause=("began at exactly 0",))
enter("pump_vibration", "short type", "loss_plateau", cause=("kept in bfloat16",))
enter("river_gauge", "targets out of reach", "saturated_activation", cause=("does not fit the targets",))
enter("tram_delays", "labels that do not fit", "loss_plateau", cause=("labels",))
enter("wheat_kernels", "data in order", "lr_too_high", "dead_units", "loss_plateau", cause=("come in order",))

enter_healthy(HERE / "healthy")
