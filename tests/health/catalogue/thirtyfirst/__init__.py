"""A thirty-first set by three who had not seen the rules: 4 that meet NaN, 20 that only fail to learn, 9 healthy.

One of the three took eight families of the studies, the others what a reviewer has to look at twice. They were first
played as users have it, within the default budget, one after another: what was mended by one was there for the next.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtieth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-first set")

enter("antenna_bearing", "acos(1)", "singular_gradient", code="tf.acos", cause=("acos, asin or atanh",))
enter("basket_upsell", "0 / 0", "nonfinite_gradient", operations=("RealDiv",), code="tf.where", cause=("masked after",))
enter(
    "session_propensity", "softmax of -Inf", "nonfinite_activation", code="tf.nn.softmax", cause=("nothing but -Inf",)
)
enter("speaker_embedding", "sqrt(0)", "singular_gradient", code="tf.sqrt(var)", cause=("square root of exactly 0",))

enter("beat_embedding", "two views that are one", "loss_plateau", cause=("Both views",))
enter("cell_outlines", "images turned without their masks", "loss_plateau", cause=("do not lie upon one another",))
enter(
    "chirp_species", "weights put back", "loss_plateau", cause=("older weights into the model", "leaves other weights")
)
enter("citation_topics", "messages that go back", "loss_plateau", code="segment_mean", cause=("summed at the sender",))
enter("claim_sequences", "a mask the wrong way round", "loss_plateau", code="tf.equal", cause=("the wrong way",))
enter("compressor_survival", "an order that is wrong", "loss_plateau", code="logsumexp", cause=("runs the wrong way",))
enter("engine_wear", "evaluation mode", "loss_plateau", cause=("called as in evaluation",))
enter("epidemic_curves", "a derivative of a sum", "loss_plateau", code="dy_dt - rhs(y)", cause=("of their sum",))
enter("galaxy_autoencoder", "posterior collapse", "dead_units", "loss_plateau", cause=("A penalty",))
enter("gesture_codes", "gradient that cancels", "loss_plateau", code="- z", cause=("is outside of",))
enter("glyph_denoiser", "random numbers drawn once", "loss_plateau", code="np.random", cause=("inside a compiled",))
enter("leaf_species", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter("meadow_calls", "learning rate that ends too soon", "loss_plateau", cause=("schedule has taken it away",))
enter("recipe_ratings", "weights that Keras does not know", "missing_gradient", cause=("Keras does not know",))
enter("seabed_map", "initialisation", "loss_plateau", code="tf.sin", cause=("too large for a sine",))
enter("slide_screening", "wrong axis", "zero_gradient", cause=("axis of length one",))
enter("spindle_faults", "a loss that is not scaled", "loss_plateau", cause=("The loss is not scaled",))
enter(
    "stock_keeper",
    "rewards summed along the wrong axis",
    "loss_plateau",
    gap="what the step is given as returns is summed before it, in NumPy",
)
enter("texture_codes", "gradient that is cut off", "loss_plateau", code="stop_gradient", cause=("All of the",))
enter("tune_composer", "wrong axis", "loss_plateau", code="tf.nn.softmax", cause=("the wrong axis",))

enter_healthy(HERE / "healthy")
