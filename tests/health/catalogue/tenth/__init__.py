"""A tenth set by someone who had not seen the rules: eight that end in NaN, 14 that only fail to learn, 14 healthy.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.ninth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, tenth set")

enter("ferry_load", "where after NaN", "nonfinite_gradient", operations=("Log",), code="tf.math.log(y / mu)")
enter("film_look", "power of a negative", "nonfinite_activation", operations=("Pow",), code="tf.pow(x")
enter("lift_parts", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - h)")
enter(
    "quake_windows",
    "float16 overflow",
    "nonfinite_activation",
    "nonfinite_loss",
    operations=("BatchMatMulV2",),
    code="tf.matmul(q, k",
)
enter("river_gauges", "0 / 0", "nonfinite_activation", operations=("RealDiv",), code="total / count")
enter("tram_signals", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="centred / spread")
enter("tune_chords", "exp overflow", "nonfinite_loss", operations=("Exp",), code="tf.exp(paths)")
enter("warbler_triplets", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.norm(a - p")

enter(
    "antimicrobial_peptides",
    "vanishing over a sequence",
    "loss_plateau",
    "dead_units",
    layer="amp/reader",
    cause=("padding stands",),
)
enter("aqueous_solubility", "wrong output for the loss", "zero_gradient", "saturated_activation")
enter(
    "chord_sequences",
    "gradients that are never cleared",
    "exploding_gradient",
    cause=("not those of the batch",),
)
enter("desalination_membranes", "unscaled inputs", "dead_units", "loss_plateau", cause=("inputs are not scaled",))
enter("displacement_field", "float16 underflow", "zero_gradient", cause=("Underflow",))
enter("gearbox_acoustics", "bad initialisation", "dead_units", "vanishing_gradient", cause=("start too small",))
enter("pollen_matching", "softmax twice", "loss_plateau", cause=("softmax is applied twice",))
enter(
    "pollinator_visits",
    "left out of the optimizer",
    "missing_gradient",
    cause=("never trained",),
)
enter("pottery_profiles", "posterior collapse", "dead_units", cause=("penalty",))
enter("radar_codec", "no slope", "missing_gradient", layer="codec/enc1", cause=("operation without a gradient",))
enter("reservoir_value", "unscaled targets", "loss_plateau", cause=("targets are not scaled",))
enter("scent_families", "learning rate too high", "lr_too_high", "saturated_activation", cause=("learning rate",))
enter("tephra_autoencoder", "clipping too hard", "loss_plateau", cause=("clipped",))
enter("termite_tunnels", "normalisation of one", "zero_gradient", cause=("batch of one",))

enter_healthy(HERE / "healthy")
