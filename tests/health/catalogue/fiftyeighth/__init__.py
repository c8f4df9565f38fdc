"""A fifty-eighth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Of several domains, without what the last two sets had. They were first played as users have it, within the default
budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftyseventh import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-eighth set")

enter("bird_calls_lviii", "NaN in the data", "nonfinite_input", cause=("infinite values",))
enter("book_ratings", "regularisation too strong", "dead_units", cause=("Regularisation",))
enter("cell_slides", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="/ n_objects")
enter(
    "citation_graph_lviii",
    "features averaged to one",
    "dead_units",
    cause=("over-smoothing",),
)
enter("customer_value", "where after NaN", "nonfinite_gradient", operations=("Log",), code="tf.math.log(y_true)")
enter("jet_tagging", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(")
enter("leaf_catalog", "data in order", "loss_plateau", "dead_units", cause=("come in order",))
enter("machine_failures", "callback the wrong way round", "loss_plateau", code="ReduceLROnPlateau(")
enter("rod_temperature_lviii", "second derivative of relus", "loss_plateau", cause=("no second derivative",))
enter("ticket_routing_lviii", "reshape for a transposition", "loss_plateau", cause=("slices of the sequence",))
enter("tile_codes", "gradient cut at codes", "loss_plateau", "dead_units", cause=("straight-through",))
enter("transcript_tails", "a word that is masked", "loss_plateau", cause=("0 is masked",))
enter("vessel_outline", "images turned without their masks", "loss_plateau", code="random_flip_left_right(image)")
enter("warehouse_robot_lviii", "entropy of the wrong sign", "loss_plateau", cause=("entropy has the wrong sign",))

enter_healthy(HERE / "healthy")
