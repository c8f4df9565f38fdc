"""A twenty-seventh set by two who had not seen the rules: 1 that ends in NaN, 16 that only fail to learn, 6 healthy.

They were first played as users have it, within the default budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentysixth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-seventh set")

enter("keyword_audio", "log(0) before the model", "nonfinite_input", cause=("The data hold infinite values",))

enter(
    "cart_balance_dqn",
    "returns beyond the end",
    "loss_plateau",
    gap="that an episode had ended is handed to no one: nothing in the step says so",
)
enter(
    "crane_dqn",
    "returns beyond the end",
    "loss_plateau",
    code="GAMMA",
    cause=("beyond the end of an episode",),
)
enter("ecg_rhythms", "labels out of range", "saturated_activation", "exploding_gradient", cause=("from 0 to 1",))
enter("event_log_query", "softmax of one", "zero_gradient", cause=("axis of length one",))
enter("fabric_weaves", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter("friends_usage", "sums that are not normalised", "loss_plateau", cause=("grow from layer to layer",))
enter("grid_hours", "average that forgets too slowly", "loss_plateau", cause=("reaches further",))
enter("ledger_risk", "dropout of what was to be kept", "dead_units", cause=("dropout rate is too high",))
enter("part_vae", "penalty that outweighs", "dead_units", cause=("penalty",))
enter(
    "pulse_gan",
    "a player that moves the other",
    "dead_units",
    cause=("one player moves the other",),
    gap="it is named where the generator's outputs collapse, which with every row they do not",
)
enter("recipe_steps", "target among the inputs", "loss_plateau", cause=("looks at the times to come",))
enter("sensor_denoise", "random numbers drawn once", "loss_plateau", cause=("inside a compiled function",))
enter("sku_photos", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter(
    "spectra_matching",
    "sign of a similarity",
    "loss_plateau",
    gap="a loss that comes down by pushing apart what belongs together is not told from one that does not",
)
enter("spiral_diffusion", "random numbers drawn once", "loss_plateau", cause=("inside a compiled function",))
enter("town_load_lstm", "targets that are not scaled", "loss_plateau", cause=("targets are not scaled",))

enter_healthy(HERE / "healthy")
