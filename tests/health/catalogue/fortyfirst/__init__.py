"""A forty-first set by two who had not seen the rules: 5 that end in NaN, 23 that only fail to learn, 11 healthy.

One was asked for families of the studies, the other for what is not among the first ten that anyone would name. They
were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortieth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-first set")

enter("biopsies", "exp overflow", "nonfinite_activation", operations=("Exp",), cause=("exponential that overflows",))
enter("buoys", "biases that are too low", "dead_units", cause=("bias holds every unit",))
enter("dose_plates", "power of a negative", "nonfinite_activation", operations=("Pow",), cause=("power of 0 or",))
enter("dunes", "numbers drawn once", "loss_plateau", code="np.random.randint", cause=("random numbers of",))
enter("fabric_x", "output's function", "saturated_activation", cause=("not on the scale",))
enter("footprints", "0 / 0", "nonfinite_activation", operations=("RealDiv",), cause=("division by exactly 0",))
enter(
    "herbarium",
    "labels encoded anew",
    gap="labels that are numbered anew in each batch are like others that hardly anything tells",
)
enter("hydrophone_x", "NaN in the data", "nonfinite_input", cause=("data hold nan", "masks the broken inputs"))
enter("infrasound", "variance that is rounding", "loss_plateau", code="tf.square(mean)", cause=("mean(x",))
enter("job_match", "gradients of others", "loss_plateau", code="tape.gradient", cause=("another order",))
enter("leaf_rust", "loss that is not scaled", "loss_plateau", cause=("not scaled",))
enter("place_names", "target among the inputs", "loss_plateau", cause=("among what it is predicted from",))
enter("solar_park", "x / 0", "nonfinite_loss", operations=("RealDiv", "Log"), cause=("division by exactly 0",))
enter("telemetry", "no slope", "missing_gradient", code="tf.round(", cause=("ends at round",))
enter("tide_gauge_xi", "exchanged betas", "loss_plateau", cause=("look swapped",))
enter("ward_codes", "padding at the end", "loss_plateau", cause=("padding stands at the end",))
enter("assay_wells", "standardised target", gap="what a standardisation of each image takes from it is not compared")
enter("bearing_hum", "real part of a spectrum", gap="what is left of a complex number before the step is not looked at")
enter("boiler_control", "states that are one", "loss_plateau", cause=("same array",))
enter("cell_patches", "coordinates in another order", gap="which of two coordinates is which is known to nobody else")
enter("claims_frequency_x", "offset without a logarithm", gap="that an exposure is added, and not its logarithm")
enter("gene_response", "regularizer left out", "loss_plateau", cause=("`model.losses` is missing",))
enter("ozone_sites", "ids as weights", gap="weights of samples that are whole numbers may be meant")
enter("podcast_picks_x", "tile for repeat", "loss_plateau", code="tf.tile(user", cause=("tf.repeat",))
enter("reactor_sensors", "one layer in several places", "loss_plateau", cause=("the same layer",))
enter("rod_cooling_x", "derivatives in other units", gap="the units of what is derived by are known to nobody else")
enter("smiles_logp", "symbols that are dropped", gap="what a layer that reads text makes one of is not looked at")
enter("syllable_stress", "sequence turned round", "loss_plateau", cause=("not turned round again",))

enter_healthy(HERE / "healthy")
