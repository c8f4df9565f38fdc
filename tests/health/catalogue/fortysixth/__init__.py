"""A forty-sixth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

One of each family of the studies, half of them in less common forms. They were first played as users have it, within
the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortyfifth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-sixth set")

enter(
    "antibody_binding",
    "where after the NaN",
    "nonfinite_gradient",
    operations=("Pow",),
    code="tf.where(outer >= 0",
    cause=("masked after the operation",),
)
enter("archive_loans", "start at zero", "zero_gradient", cause=("latent began at exactly 0",))
enter("bread_demand", "power of 0", "nonfinite_loss", operations=("Pow",), code="tf.pow(y_pred, 1.0 - p)")
enter("choir_voices", "softmax of several labels", "loss_plateau", cause=("each label is to be told by itself",))
enter("harbour_tide", "rate that is gone", "loss_plateau", cause=("cut at every step",))
enter("hive_inspection", "dropout of what was to be kept", "dead_units", cause=("dropout rate is too high",))
enter("perfume_rating", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="/ tf.reduce_sum(better)")
enter("rope_sag", "broadcasting", "loss_plateau", code="curvature(places[:, None]) - load", cause=("A broadcast of",))
enter("scent_codes", "function without a gradient", "missing_gradient", operations=("Round",), code="tf.round(soft)")
enter("seed_kernel", "bias that kills relu", "dead_units", cause=("bias holds every unit",))
enter("stone_cores", "repeat beside tile", "loss_plateau", code="np.tile", cause=("one is repeated",))
enter("storm_cells", "scaled twice", "loss_plateau", cause=("adapted to data that are not",))
enter("subtitle_match", "overflow of exp", "nonfinite_loss", operations=("Exp",), cause=("exponential that overflows",))
enter("subway_gates", "clip in vain", "exploding_gradient", code="zip(grads", cause=("unclipped ones are applied",))

enter_healthy(HERE / "healthy")
