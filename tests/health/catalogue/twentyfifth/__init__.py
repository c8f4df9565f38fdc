"""A twenty-fifth set by one who had not seen the rules: 3 that end in NaN, 13 that only fail to learn, 4 healthy.

They were first played as users have it, within the default budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentyfourth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-fifth set")

enter("pollen_zones", "NaN in the data", "nonfinite_input", layer="taxa")
enter("sap_flow", "log(0)", "nonfinite_loss", operations=("Log",), code="ops.log(sd)")
enter("star_tracker", "acos at 1", "singular_gradient", code="tf.acos(cos)")

enter("auction_lots", "terms of different size", "loss_plateau", cause=("drowns this one",))
enter("bell_foundry", "variables that Keras does not know", "missing_gradient", cause=("Keras does not know",))
enter(
    "canal_lock",
    "states of another sequence",
    "loss_plateau",
    gap="whether the next window of a stateful layer goes on with its row is not known, and part of it is learned",
)
enter("cheese_grades", "label out of range", "loss_plateau", cause=("counted from 1",))
enter(
    "ferry_berths",
    "policy that redraws its action",
    "loss_plateau",
    code="keras.random.categorical(",
    cause=("not the action that was taken",),
)
enter("kiln_probe", "wrong axis", "zero_gradient", cause=("axis of length one",))
enter("lace_patterns", "posterior collapse", "dead_units", cause=("penalty",))
enter(
    "lichen_cover",
    "images turned without their masks",
    "loss_plateau",
    code="random_flip",
    cause=("do not lie upon one another",),
)
enter("moth_wings", "learning rate that falls to 0", "loss_plateau", cause=("between steps has taken it away",))
enter("organ_stops", "a mask the wrong way round", "loss_plateau", cause=("wrong way round",))
enter("peat_depth", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("quarry_shots", "frozen by mistake", "missing_gradient", cause=("pretrained weights never came",))
enter("spring_discharge", "an output for two targets", "loss_plateau", layer="dense", cause=("same layer",))

enter_healthy(HERE / "healthy")
