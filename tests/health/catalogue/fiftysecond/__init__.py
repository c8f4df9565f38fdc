"""A fifty-second set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Of how data are prepared, labelled, fed and scaled, of layers and losses of one's own, and of fine-tuning; each the
second thing that came to its author's mind. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftyfirst import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-second set")

enter("bird_calls_lii", "labels numbered anew", "loss_plateau", cause=("fitted to them anew",))
enter("card_fraud_lii", "broadcast", "loss_plateau", code="per_payment * weight", cause=("[n, n]",))
enter("cell_outline", "image and mask flipped apart", "loss_plateau", code="random_flip_left_right(mask)")
enter("field_trials", "variable that is not tracked", "missing_gradient", code="tf.Variable(tf.random.normal")
enter("gravity_direction", "acos of 1", "singular_gradient", operations=("Reciprocal",), code="tf.acos(cosine)")
enter(
    "heat_demand_lii",
    "inputs scaled one by one",
    "loss_plateau",
    gap="each window is scaled by its own mean and deviation, as others do on purpose; a little is learned",
)
enter(
    "inn_reviews",
    "word that is masked",
    "loss_plateau",
    cause=("begins at 0",),
)
enter(
    "library_loans_lii",
    "batched before it is shuffled",
    "loss_plateau",
    cause=("batched before it is shuffled",),
)
enter("pollen_grains", "power of 0", "singular_gradient", operations=("Pow",), code="1.0 / self.p")
enter("pump_faults", "filtered before zip", "loss_plateau", code="wave_source.filter(complete)")
enter("rune_stones", "clone without its weights", "missing_gradient", cause=("copies the layers, not their weights",))
enter("ward_labs", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(present)")
enter("watch_through", "log(0)", "nonfinite_loss", operations=("Log1p",), code="tf.math.log1p(-y)")
enter(
    "weather_station",
    "targets scaled by one number",
    "loss_plateau",
    cause=("column by column",),
)

enter_healthy(HERE / "healthy")
