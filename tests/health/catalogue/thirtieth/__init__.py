"""A thirtieth set by two who had not seen the rules: 3 that meet NaN, 13 that only fail to learn, 6 healthy.

One of the two took eight families of the studies, the other what a reviewer has to look at twice. They were first
played as users have it, within the default budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentyninth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirtieth set")

enter("district_load", "log(0)", "nonfinite_loss", code="tf.math.log", cause=("logarithm of exactly 0",))
enter("speaker_stats", "sqrt(0)", "singular_gradient", code="reduce_std", cause=("square root of exactly 0",))
enter("whale_triplet", "sqrt(0)", "singular_gradient", code="tf.sqrt", cause=("square root of exactly 0",))

enter("bearing_snippets", "no activation function", "loss_plateau", cause=("no activation function",))
enter("bpr_songs", "random numbers drawn once", "loss_plateau", code="np.random", cause=("inside a compiled",))
enter("device_log_attention", "a mask the wrong way round", "loss_plateau", code="tf.equal", cause=("the wrong way",))
enter("glacier_melt", "shapes that broadcast", "loss_plateau", code="obs - est", cause=("a broadcast of",))
enter("grape_mildew", "learning rate that ends too soon", "loss_plateau", cause=("schedule has taken it away",))
enter("grid_a2c", "advantage with its gradient", "loss_plateau", code="advantage", cause=("the advantage needs",))
enter(
    "machine_recordings",
    "labels that mean several things",
    "loss_plateau",
    gap="what a label means in one recording it does not in another: a part of it is learned all the same",
)
enter("molecule_gnn", "indices that are not shifted", "loss_plateau", cause=("edges are not shifted",))
enter("river_diffusion", "random numbers drawn once", "loss_plateau", code="np.random", cause=("inside a compiled",))
enter("texture_ema", "weights put back", "loss_plateau", cause=("older weights into the model", "leaves other weights"))
enter("triage_desks", "labels of other samples", "loss_plateau", cause=("do not belong to the inputs",))
enter("turbine_emission", "unscaled inputs", "zero_gradient", cause=("inputs are not scaled",))
enter("vqvae_glyphs", "gradient that cancels", "loss_plateau", code="tf.stop_gradient(q) - z", cause=("is outside of",))

enter_healthy(HERE / "healthy")
