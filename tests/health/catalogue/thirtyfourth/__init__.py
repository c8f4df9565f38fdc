"""A thirty-fourth set by one who had not seen the rules: 10 that only fail to learn, one of each area, 4 healthy.

They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtythird import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-fourth set")

enter("crystal_spectra_loop", "softmax twice", "loss_plateau", cause=("A softmax",))
enter("dial_turns_transformer", "a mask that is missing", "loss_plateau", cause=("looks at the times to come",))
enter(
    "film_rating_factors", "activation that does not fit", "saturated_activation", cause=("does not fit the targets",)
)
enter("flat_rent_regression", "broadcast", "loss_plateau", code="y - pred", cause=("A broadcast",))
enter("glyph_strokes_vae", "posterior collapse", "dead_units", cause=("A penalty on the output",))
enter(
    "grid_megawatts",
    "inputs that are not scaled",
    "saturated_activation",
    "lr_too_high",
    cause=("inputs are not scaled",),
)
enter("leaf_disease_photos", "scaled twice", "dead_units", "loss_plateau", cause=("scaled to next to nothing",))
enter("pole_balance_dqn", "a return beyond the end", "loss_plateau", code="next_q", cause=("beyond the end",))
enter("ticket_sentiment", "padding at the end", "loss_plateau", cause=("padding stands",))
enter(
    "voice_print_siamese",
    "labels the wrong way round",
    "loss_plateau",
    cause=("labels of the pairs",),
)

enter_healthy(HERE / "healthy")
