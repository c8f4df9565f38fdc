"""A twenty-fourth set by one who had not seen the rules: 3 that end in NaN, 10 that only fail to learn, 4 healthy.

They were first played as users have it, within the default budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentythird import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-fourth set")

enter("signature_strokes", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt(")
enter("ward_stay", "0 / 0", "nonfinite_activation", operations=("RealDiv",), layer="mean_of_codes")
enter(
    "weld_seam_mask",
    "learning rate that is NaN",
    "nonfinite_weight",
    "nonfinite_activation",
    "nonfinite_loss",
    cause=("learning rate itself",),
)

enter(
    "bearing_autoencoder", "wrong output for the targets", "saturated_activation", cause=("does not fit the targets",)
)
enter("flat_listing", "terms of different size", "loss_plateau", cause=("drowns this one",))
enter("freight_delay_risk", "dropout too strong", "dead_units", cause=("dropout rate is too high",))
enter("leaf_spot_classes", "labels that do not fit", "loss_plateau", cause=("do not belong to the inputs",))
enter("melt_temperature", "targets that broadcast", "loss_plateau", cause=("broadcast",), code="error = pred - target")
enter("press_cycle_tagger", "a sequence read backwards", "loss_plateau", layer="gru", cause=("not turned round again",))
enter("river_discharge", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter("solar_profile_vae", "posterior collapse", "dead_units", cause=("penalty",))
enter("sonar_target", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("ticket_masks", "a mask the wrong way round", "loss_plateau", cause=("wrong way round",))

enter_healthy(HERE / "healthy")
