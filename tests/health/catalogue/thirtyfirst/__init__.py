"""A thirty-first set by two who had not seen the rules: 8 or more broken trainings of each, and healthy ones.

One of the two took eight families of the studies, the other what a reviewer has to look at twice. They were first
played as users have it, within the default budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtieth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-first set")

enter("speaker_embedding", "sqrt(0)", "singular_gradient", code="tf.sqrt(var)", cause=("square root of exactly 0",))

enter("engine_wear", "evaluation mode", "loss_plateau", cause=("called as in evaluation",))
enter("galaxy_autoencoder", "posterior collapse", "dead_units", "loss_plateau", cause=("A penalty",))
enter("leaf_species", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter("meadow_calls", "learning rate that ends too soon", "loss_plateau", cause=("schedule has taken it away",))
enter("recipe_ratings", "weights that Keras does not know", "missing_gradient", cause=("Keras does not know",))
enter("seabed_map", "initialisation", "loss_plateau", code="tf.sin", cause=("too large for a sine",))
enter("slide_screening", "wrong axis", "zero_gradient", cause=("axis of length one",))

enter_healthy(HERE / "healthy")
