"""A forty-ninth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

One of each family of the studies again, after the forty-eighth. They were first played as users have it, within the
default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortyeighth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-ninth set")

enter("auction_hammer", "overflow of an exponential", "nonfinite_loss", operations=("Cosh",), code="tf.math.cosh(")
enter("carpet_dyes", "weight decay too strong", "loss_plateau", code="w.assign_sub(DECAY * w)")
enter("chimney_fire", "bias that kills relu", "dead_units", cause=("bias holds every unit",))
enter("comet_tails", "layers without an optimizer", "missing_gradient", cause=("never trained",))
enter("garden_soil", "NaN targets", "nonfinite_input", cause=("without a usable label",))
enter("hotel_minibar", "power of 0", "nonfinite_loss", operations=("Pow",), code="ops.power(mu, 1.0 - p)")
enter("mosaic_floors", "tile for repeat", "loss_plateau", code="np.repeat(kinds, 2)", cause=("other laid end to end",))
enter(
    "noodle_tasting",
    "broadcast of all pairs",
    "loss_plateau",
    code="above * tf.math.softplus(-margin)",
    cause=("[n, n, n]",),
)
enter("orchestra_swell", "recurrence that grows", "dead_units", layer="rnn", cause=("state grows along",))
enter("penguin_colony", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="total / birds")
enter("poll_swing", "warm-up without an end", "exploding_gradient", cause=("learning rate keeps rising",))
enter("roll_calls", "labels of -1 and 1", "exploding_gradient", cause=("labels are -1 and 1",))
enter("soap_bars", "scaled twice", "loss_plateau", cause=("adapted to data that are not",))
enter("trail_picks", "start at zero", "zero_gradient", layer="walkers", cause=("began at exactly 0",))

enter_healthy(HERE / "healthy")
