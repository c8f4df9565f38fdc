"""A sixty-fourth set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

Written after the studies of bugs: what they count most of, whether or not an earlier set has it. They were first played
as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtythird import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-fourth set")

enter(
    "bark_textures",
    "learning rate too high",
    "zero_gradient",
    "lr_too_high",
    cause=("The learning rate is too high",),
)
enter("brick_firing", "learning rate too high", "exploding_gradient", cause=("The learning rate is too high",))
enter("cargo_tonnage", "a column and a vector", "loss_plateau", code="tf.square(y - pred)")
enter(
    "clinic_triage",
    "terms of different size",
    "loss_plateau",
    layer="triage/level",
    cause=("drowns this one",),
)
enter("coin_minting", "both lower the score", "loss_plateau", cause=("uses the discriminator's label",))
enter("ferry_bookings", "NaN in the data", "nonfinite_input", layer="column 5", cause=("The data hold NaN",))
enter("harbor_pilot", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.math.reduce_std(reward)")
enter(
    "lichen_plates",
    "log of 0",
    "steep_gradient",
    "nonfinite_loss",
    operations=("Log",),
    code="tf.math.log(probs)",
)
enter(
    "mosaic_restore",
    "activation and targets",
    "saturated_activation",
    layer="decoder/tiles_out",
    cause=("does not fit the targets",),
)
enter("orchid_matching", "sqrt at 0", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(")
enter(
    "quartz_spectra",
    "vanishing through depth",
    "vanishing_gradient",
    layer="strata_0",
    cause=("Saturating activations",),
)
enter(
    "reactor_telemetry",
    "unscaled inputs",
    "saturated_activation",
    layer="vessel_a",
    cause=("The inputs are not scaled",),
)
enter("sonar_phrases", "exp overflows", "nonfinite_loss", operations=("Exp",), code="tf.exp(scores)")
enter(
    "tile_glyphs",
    "logits for probabilities",
    "loss_plateau",
    layer="glyph",
    cause=("Scores are taken for probabilities",),
)
enter("tremor_traces", "pairs torn apart", "loss_plateau", code="rng.permutation(len(y))")
enter("vineyard_frost", "softmax over one", "loss_plateau", layer="frost", cause=("A softmax over one unit",))

enter_healthy(HERE / "healthy")
