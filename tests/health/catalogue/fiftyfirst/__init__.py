"""A fifty-first set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

One of each family of the studies again, after the fiftieth, several of them in eager loops. They were first played as
users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftieth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-first set")

enter(
    "barge_pilot",
    "target network that is never moved",
    "loss_plateau",
    code="slow += TAU",
    cause=("Copies of weights",),
)
enter("chimney_heat", "broadcast", "loss_plateau", code="curvature + q")
enter(
    "cistern_levels", "power that grows", "exploding_gradient", operations=("Pow",), code="tf.pow(", cause=("above 1",)
)
enter("kelp_spectra", "posterior collapse", "dead_units", code="recon_loss +", cause=("the KL term",))
enter(
    "kiosk_sales", "generator that seeds itself", "loss_plateau", code="default_rng(SEED)", cause=("The seed is set",)
)
enter("orchid_lineage", "acosh of 1", "singular_gradient", operations=("RealDiv",), code="tf.acosh(")
enter("ore_samples", "softmax over one number", "zero_gradient", cause=("axis of length one",))
enter("pigeon_headings", "overflow", "nonfinite_loss", operations=("BesselI0",), code="bessel_i0(kappa)")
enter("podcast_tastes", "start at zero", "zero_gradient", layer="embedding", cause=("began at exactly 0",))
enter("postal_stamps", "files sorted by name", "loss_plateau", cause=("do not belong to the inputs",))
enter("pottery_marks", "layer called by a Lambda", "missing_gradient", layer="tower", cause=("which no model holds",))
enter("resin_molecules", "root of 0", "nonfinite_loss", operations=("Rsqrt",), code="tf.math.rsqrt(degree)")
enter("semaphore_phrases", "warm-up in epochs", "loss_plateau", cause=("counts epochs",))
enter("vinegar_vats", "inputs scaled by one number", "loss_plateau", layer="normalization", cause=("column by column",))

enter_healthy(HERE / "healthy")
