"""A forty-second set by two who had not seen the rules: 10 that end in NaN, 20 that only fail to learn, 8 healthy.

One was asked for sixteen families of the studies, the other for what goes wrong most often in practice, half of it by
numbers. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortyfirst import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-second set")

enter("ad_clicks_xii", "start of zeros", "zero_gradient", cause=("began at exactly 0",))
enter("battery_fade", "vanishing through depth", "dead_units", "vanishing_gradient", cause=("too small for the depth",))
enter("bird_calls_xii", "sqrt(0)", "singular_gradient", code="tf.sqrt(var)", cause=("square root",))
enter("concrete_mix", "learning rate that falls to 0", "loss_plateau", cause=("learning rate is at 0",))
enter(
    "dry_creek", "x / 0", "nonfinite_loss", operations=("RealDiv",), code="/ spread", cause=("division by exactly 0",)
)
enter("gait_cycles", "posterior collapse", "dead_units", "loss_plateau", cause=("penalty",))
enter("gear_whine", "float16 overflow", "nonfinite_activation", code="tf.reduce_mean(tf.square(re)", cause=("float16",))
enter("leaf_shots", "exp overflow", "nonfinite_loss", operations=("Exp",), code="tf.exp(", cause=("overflows",))
enter("nuclei_heat", "biases that are too low", "dead_units", cause=("bias holds every unit",))
enter("quarter_rent", "variable that is not tracked", "missing_gradient", cause=("does not know",))
enter("road_signs_xii", "labels of others", "loss_plateau", cause=("labels do not belong",))
enter("serum_panel", "momentum of the batch normalisation", "loss_plateau", cause=("other way round in pytorch",))
enter("shop_stock", "broadcast", "loss_plateau", code="target = reward", cause=("broadcast",))
enter("slide_bags", "log(0)", "nonfinite_loss", operations=("Log",), code="ll = y_true", cause=("logarithm",))
enter("song_tags", "softmax for several labels", "loss_plateau", cause=("a sigmoid is meant",))
enter("vine_yield", "scaled by one number", "loss_plateau", cause=("column by column",))
enter("assay_panel_xii", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="per_assay =", cause=("exactly 0",))
enter("bird_song", "sqrt(0)", "singular_gradient", code="ops.std(x", cause=("square root",))
enter("brain_rhythm", "reshape for transpose", "loss_plateau", code="trials.reshape", cause=("axes should change",))
enter("concrete_mix_xii", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("crowd_motion", "unsigned difference", "loss_plateau", code="clips[:, 1:]", cause=("before the arrays are cast",))
enter("gaze_tracker", "acos at 1", "singular_gradient", code="tf.acos", cause=("acos",))
enter("lake_mapper", "views that do not fit", "loss_plateau", code="random_flip", cause=("upon one another",))
enter("plankton_sorter", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter("pressure_wave", "sqrt of a negative", "nonfinite_activation", operations=("Sqrt",), cause=("square root",))
enter("pulse_cleaner", "numbers drawn once", "loss_plateau", code="np.random", cause=("random numbers of",))
enter("star_spectra_xii", "posterior collapse", "dead_units", "loss_plateau", cause=("penalty",))
enter("ticket_router_xii", "learning rate that falls to 0", "loss_plateau", cause=("learning rate is at 0",))
enter(
    "traffic_queue",
    "seconds since 1970 in float32",
    gap="what a cast takes from whole numbers before the step is not looked at",
)
enter("wind_vane", "Bessel function that overflows", "nonfinite_loss", operations=("BesselI0",), cause=("bessel",))

enter_healthy(HERE / "healthy")
