"""A twenty-ninth set by two who had not seen the rules: 3 that meet NaN, 13 that only fail to learn, 6 healthy.

One of the two wrote after the families of the studies, the other what users of training loops of their own report. They
were first played as users have it, within the default budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentyeighth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-ninth set")

enter("colloid_energy", "0 / 0", "nonfinite_activation", code="degree", cause=("division by exactly 0",))
enter("particle_id", "log(0)", "nonfinite_loss", "nonfinite_gradient", code="tf.math.log", cause=("logarithm",))
enter("session_purchase", "softmax of nothing", "nonfinite_activation", code="softmax", cause=("nothing but -inf",))

enter("birdcall_cnn", "learning rate that ends too soon", "loss_plateau", cause=("schedule of the learning rate",))
enter("cell_segment", "images turned without their masks", "loss_plateau", code="flip", cause=("do not lie upon",))
enter("concrete_strength_anew", "shapes that broadcast", "loss_plateau", code="y - pred", cause=("a broadcast of",))
enter("drone_a2c", "shapes that broadcast", "loss_plateau", code="logp", cause=("a broadcast of",))
enter(
    "duffing_surrogate",
    "bad initialisation",
    "saturated_activation",
    gap="it learns all the same: 97 % of the targets' variance, where the cured one has 99.9 %",
)
enter("glyph_vae", "collapsed representation", "dead_units", cause=("a penalty on the output",))
enter("heat_rod_pinn", "second derivative of relus", "loss_plateau", cause=("no second derivative",))
enter("nuclei_mask", "softmax of one", "zero_gradient", layer="conv2d", cause=("a softmax on a single number",))
enter("recipe_fm", "variable unknown to Keras", "missing_gradient", cause=("does not know of some variables",))
enter("ticket_queues", "padding without a mask", "loss_plateau", cause=("padding stands",))
enter("wearable_activity", "normalisation in evaluation", "loss_plateau", cause=("training=True",))
enter("wearable_simsiam", "collapsed representation", "loss_plateau", cause=("nothing in the loss holds",))
enter(
    "wind_vectors",
    "noise that is never shown",
    "loss_plateau",
    code="tf.random.normal",
    cause=("two different noise",),
)

enter_healthy(HERE / "healthy")
