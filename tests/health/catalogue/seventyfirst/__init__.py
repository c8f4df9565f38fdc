"""A seventy-first set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

Drawn by lot from a taxonomy of real faults, as often as each is reported, whatever earlier sets have. They were first
played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.seventieth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, seventy-first set")

enter("ballad_picks", "loss that ascends", "exploding_gradient", cause=("log-likelihood without its minus",))
enter(
    "brioche_orders",
    "float16 overflow",
    "nonfinite_activation",
    operations=("Mul",),
    code="(1.0 - present) * -1e9",
    layer="line_attention",
    cause=("float16 cannot hold",),
)
enter(
    "ferry_waits",
    "exp overflow",
    "nonfinite_activation",
    operations=("Exp",),
    code="tf.math.log(1.0 + tf.exp(raw))",
    layer="wait",
)
enter(
    "foghorn_takes",
    "rsqrt(0)",
    "nonfinite_activation",
    operations=("Rsqrt",),
    code="tf.math.rsqrt(power)",
    layer="level_match",
)
enter("gneiss_assay", "all weights equal", "dead_units", layer="assay_1", cause=("starts at a constant",))
enter("heron_clips", "softmax of one", "zero_gradient", layer="frame_attention", cause=("axis of length one",))
enter("kiln_hum", "scaled by wrong statistics", "loss_plateau", cause=("prepared differently",))
enter("linocut_codec", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - p)")
enter("moss_plates", "schedule in epochs", "loss_plateau", cause=("schedule has taken it away",))
enter(
    "pantry_baskets",
    "where after NaN",
    "nonfinite_gradient",
    operations=("RealDiv",),
    code="tf.where(total > 0.0, summed / total",
    layer="weigh",
    cause=("masked after the operation",),
)
enter("paw_pairs", "sqrt at 0", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(squared)", layer="gap")
enter("postmark_reader", "inputs scaled to nothing", "loss_plateau", code="// 255", cause=("in place of",))
enter("scooter_docks", "unscaled inputs", "loss_plateau", cause=("The inputs are not scaled: column 6",))
enter("sleep_cuffs", "targets that broadcast", "loss_plateau", layer="index", cause=("no pooling",))
enter("tavern_notes", "padding at the end", "loss_plateau", layer="reader", cause=("Padding stands",))
enter("turbine_windows", "rare class", "loss_plateau", layer="fault", cause=("samples are of class 1",))

enter_healthy(HERE / "healthy")
