"""A seventh set by someone who had not seen the rules: after the studies, half of them ending in NaN.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, seventh set")

enter("accelerometer_activity", "0 / 0 in the data", "nonfinite_input", cause=("data hold NaN",))
enter("barometer_forecast", "sqrt of a negative", "nonfinite_activation", operations=("Sqrt",), code="mean_sq")
enter("engine_sound_sinc", "where after NaN", "nonfinite_gradient", operations=("RealDiv",), code="tf.sin(x) / x")
enter(
    "fingerprint_embedding", "acos at 1", "singular_gradient", operations=("Reciprocal", "Acos"), code="tf.acos(cosine)"
)
enter("heating_policy", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - tf.square(action))")
enter("icu_vitals_rnn", "exp overflow", "nonfinite_activation", operations=("While",), code="ops.exp(-gap")
enter("leaf_disease_cnn", "learning rate that is NaN", "nonfinite_weight", cause=("learning rate itself",))
enter("seal_dive_wgan", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(tf.reduce_sum(")
enter("support_ticket_attention", "float16 overflow", "nonfinite_activation", cause=("float16",))
enter(
    "crop_yield_microbatch",
    "gradients that are never cleared",
    "exploding_gradient",
    cause=("not those of the batch",),
)
enter("digit_hash_codes", "no slope", "zero_gradient", layer="encoder", cause=("on the way to the loss",))
enter("digit_vae", "posterior collapse", "dead_units", cause=("penalty",))
enter(
    "land_cover_tiles",
    "labels that say nothing",
    "loss_plateau",
    gap="told is that units die and outputs become alike, as they do where there is nothing to learn",
)
enter("meter_digit_reader", "learning rate too high", "dead_units", "lr_too_high", cause=("learning rate",))
enter("pathology_bag_mil", "an axis taken for another", "zero_gradient", layer="patch_attention", cause=("length one",))
enter(
    "plankton_transfer",
    "frozen by mistake",
    "missing_gradient",
    cause=("pretrained weights never came",),
)
enter(
    "shell_command_rnn",
    "vanishing over a sequence",
    "vanishing_gradient",
    "loss_plateau",
    cause=("sequence",),
)
enter("soil_spectra_carbon", "normalisation in evaluation", "loss_plateau", cause=("training=True",))
enter("star_type_classifier", "logits for probabilities", "loss_plateau", layer="kind", cause=("from_logits=True",))
enter("wind_farm_power", "targets that broadcast", "loss_plateau", cause=("broadcast",))

enter_healthy(HERE / "healthy")
