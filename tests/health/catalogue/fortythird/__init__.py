"""A forty-third set by two who had not seen the rules: 9 that end in NaN, 17 that only fail to learn, 6 healthy.

One was asked for families of the studies, the other for what goes wrong most often in practice; both after the
forty-second. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortysecond import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-third set")

enter("bridge_strain_xiii", "reshape for transpose", "loss_plateau", code="block.reshape", cause=("should change",))
enter("cheese_ripening", "share to keep as a rate", "loss_plateau", code="tf.nn.dropout", cause=("given as the rate",))
enter("coral_bleaching", "learning rate that is too high", "lr_too_high", "dead_units", cause=("learning rate",))
enter(
    "ferry_network", "0 / 0", "nonfinite_activation", operations=("RealDiv",), code="messages =", cause=("exactly 0",)
)
enter(
    "glucose_meals",
    "recurrence that grows",
    "nonfinite_weight",
    cause=("gradient has exploded", "grows along the recurrence"),
)
enter("glyph_codes", "variables left out", "missing_gradient", cause=("never trained",))
enter("gravel_transport", "where after NaN", "nonfinite_gradient", operations=("Pow",), cause=("masked after",))
enter(
    "gut_microbes",
    "product that overflows",
    "nonfinite_gradient",
    operations=("Prod",),
    cause=("product of many numbers",),
)
enter("hail_claims_xiii", "power of 0", "nonfinite_loss", operations=("Pow",), code="left", cause=("power of 0 or",))
enter("kiln_firing", "unscaled inputs", "saturated_activation", cause=("not scaled",))
enter("museum_tags", "loss for one label", "loss_plateau", "exploding_gradient", cause=("each label is to be told",))
enter(
    "mushroom_caps", "repeat beside tile", "loss_plateau", code="np.tile(labels", cause=("repeated, the other tiled",)
)
enter("oyster_growth", "scaled twice", "loss_plateau", cause=("adapted to data that are not",))
enter("perfume_notes", "start that is symmetric", "dead_units", cause=("starts at a constant",))
enter("broom_robot", "end that is not heard of", "loss_plateau", code="target = reward", cause=("end of an episode",))
enter(
    "coin_faces",
    "thawed without compile",
    "loss_plateau",
    code="trunk.trainable",
    cause=("after the step was compiled",),
)
enter("glacier_melt_xiii", "never adapted", "exploding_gradient", cause=("adapt(...)` is missing",))
enter("hive_visits", "softmax of -Inf", "nonfinite_activation", operations=("Softmax",), cause=("nothing but -inf",))
enter("loan_desk", "learning rate that falls", "loss_plateau", cause=("taken it away",))
enter("meteor_watch", "softmax over one", "zero_gradient", cause=("axis of length one",))
enter("perfume_notes_xiii", "sign of the cosine", "loss_plateau", code="1.0 - keras", cause=("negative of the cosine",))
enter("postage_marks", "augmentation that is cached", "loss_plateau", code=".cache()", cause=("is cached",))
enter("recipe_box", "variable that is not tracked", "missing_gradient", cause=("does not know",))
enter(
    "seed_trays", "where after NaN", "nonfinite_gradient", operations=("Pow",), code="hazard =", cause=("masked after",)
)
enter("signature_desk_xiii", "sqrt(0)", "singular_gradient", code="tf.sqrt(", cause=("square root",))
enter("soil_cores", "inference mode", "loss_plateau", cause=("training=true",))

enter_healthy(HERE / "healthy")
