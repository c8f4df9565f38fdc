"""A forty-fifth set by two who had not seen the rules: 9 that end in NaN, 19 that only fail to learn, 6 healthy.

Both were asked for all families of the studies, after the forty-fourth; one of them for less common forms. They were
first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortyfourth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-fifth set")

enter("bridge_deck", "start at zero", "zero_gradient", cause=("began at exactly 0",))
enter("coffee_cup", "deviation as variance", "loss_plateau", cause=("standard deviation as its variance",))
enter("crate_price", "overflow of cosh", "nonfinite_loss", operations=("Cosh",), cause=("exponential that overflows",))
enter("gallery_visit", "0 / 0", "nonfinite_activation", operations=("RealDiv",), code="minutes / total")
enter("glaze_spectra", "variables left out", "missing_gradient", cause=("never trained",))
enter("harbour_surge", "rows left out of one", "loss_plateau", code="y = y[", cause=("left out of `x`",))
enter("oasis_finder", "bias that kills relu", "dead_units", cause=("bias holds every unit",))
enter("plastic_belt", "labels of a hinge", "loss_plateau", cause=("must be -1 and 1",))
enter("seedling_survival", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(t)", cause=("exactly 0",))
enter("snow_station", "NaN targets", "nonfinite_input", cause=("without a usable label",))
enter("train_delay", "rate that is compounded", "loss_plateau", code="lr * DECAY", cause=("share of the first one",))
enter("vaccine_titre", "broadcasting", "loss_plateau", cause=("A broadcast of",))
enter("wing_pattern", "KL term too heavy", "dead_units", cause=("stronger than the rest",))
enter("word_links", "growth by sums", "dead_units", cause=("grow from layer to layer",))
enter("creep_curve", "recurrence that grows", "nonfinite_weight", cause=("gradient has exploded",))
enter("dance_step", "rate that is compounded", "loss_plateau", code="lr * DECAY", cause=("share of the first one",))
enter("dialect_vowels", "repeat beside copies", "loss_plateau", code="np.repeat", cause=("one is repeated",))
enter("flash_recall", "variables left out", "missing_gradient", cause=("never trained",))
enter("gallery_guide", "broadcasting", "loss_plateau", code="log_room", cause=("A broadcast of",))
enter("glass_melt", "start at zero", "zero_gradient", cause=("began at exactly 0",))
enter(
    "guide_star",
    "overflow of exp",
    "nonfinite_loss",
    operations=("Exp",),
    code="tf.exp(score",
    cause=("exponential that overflows",),
)
enter("haul_species", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="per_species", cause=("exactly 0",))
enter("parcel_minutes", "scaled by a part", "loss_plateau", cause=("adapted to data that are not",))
enter("policy_cost", "power of a negative", "nonfinite_loss", operations=("Pow",), cause=("power of 0 or",))
enter("pollen_viability", "percent", "saturated_activation", cause=("must be from 0 to 1",))
enter("road_trace", "atan2(0, 0)", "singular_gradient", code="tf.atan2", cause=("exactly zero",))
enter("sensor_dust", "bias that kills relu", "dead_units", cause=("bias holds every unit",))
enter("shell_outline", "KL term too heavy", "dead_units", "loss_plateau", cause=("penalty",))

enter_healthy(HERE / "healthy")
