"""A sixteenth set by someone who had not seen the rules: four that end in NaN, 14 that only fail to learn, 12 healthy.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fifteenth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixteenth set")

enter("glacier_flow", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log")
enter(
    "grape_ripeness",
    "learning rate that is NaN",
    "nonfinite_weight",
    "nonfinite_activation",
    cause=("learning rate itself",),
)
enter("loom_sensors", "NaN in the data", "nonfinite_input", cause=("data hold NaN",))
enter("polymer_graphs", "x / 0", "nonfinite_activation", operations=("RealDiv",), code="1.0 / tf.sqrt(degree)")

enter("beetle_photos", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter("board_game_factors", "start of zeros", "zero_gradient", cause=("began at exactly 0",))
enter("board_games", "variables that Keras does not know", "missing_gradient", cause=("does not know",))
enter("cement_strength", "broadcast", "loss_plateau", cause=("cement_strength.py:",))
enter("cloud_patches", "posterior collapse", "dead_units", cause=("penalty",))
enter("grocery_basket", "attention to nothing", "zero_gradient", cause=("mask is inverted",))
enter("harbour_calls", "target among the inputs", "loss_plateau", cause=("among what it is predicted from",))
enter("heart_murmurs", "normalisation before a mean", "vanishing_gradient", "dead_units", cause=("mean of 0",))
enter("hydrophone_bearing", "reshape for a transposition", "loss_plateau", cause=("axes should change places",))
enter("mine_cart", "number of the first trace", "loss_plateau", cause=("self.updates",))
enter("mushroom_traits", "wrong output for the targets", "loss_plateau", cause=("where a sigmoid is meant",))
enter(
    "quarry_blasts",
    "unscaled inputs",
    "loss_plateau",
    gap="classes have weights, and batches few of each: the loss is too uneven to be known for one of guessing",
)
enter("shell_patterns", "dropout rate too high", "dead_units", cause=("dropout rate",))
enter("zip_digits", "learning rate too low", "loss_plateau", cause=("Adadelta",))

enter_healthy(HERE / "healthy")
