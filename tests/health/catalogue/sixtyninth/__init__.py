"""A sixty-ninth set by one who had not seen the rules: 6 that end in NaN, 10 that only fail to learn, 6 healthy.

What people ask about in forums, whatever earlier sets have. They were first played as users have it, within the default
budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.sixtyeighth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixty-ninth set")

enter("button_sorting", "learning rate too high", "lr_too_high", "dead_units", cause=("learning rate is too high",))
enter(
    "carillon_sensors",
    "activation and targets",
    "saturated_activation",
    layer="reconstruction",
    cause=("does not fit the targets",),
)
enter("chalet_pricing", "unscaled targets", "loss_plateau", layer="price", cause=("The targets are not scaled",))
enter("dialysis_readmit", "NaN in the data", "nonfinite_input", layer="column 4", cause=("The data hold NaN",))
enter(
    "funicular_wait",
    "vanishing through depth",
    "vanishing_gradient",
    layer="block_0",
    cause=("Saturating activations through many layers",),
)
enter(
    "haiku_mood",
    "logits for probabilities",
    "loss_plateau",
    layer="mood",
    cause=("Scores are taken for probabilities",),
)
enter("kiln_shrinkage", "a column and a vector", "loss_plateau", code="tf.square(yb - pred)", cause=("A broadcast of",))
enter("lantern_corridor", "log of 0", "nonfinite_loss", operations=("Log",), code="tf.math.log(probs)")
enter(
    "medal_contour",
    "both lower the score",
    "loss_plateau",
    code="return bce(tf.zeros_like(fake_out), fake_out)",
    cause=("uses the discriminator's label",),
)
enter("olive_grading", "pairs torn apart", "loss_plateau", cause=("The labels do not belong to the inputs",))
enter(
    "podcast_affinity",
    "tower outside of the tape",
    "missing_gradient",
    code="listener_tower(u), show_tower(s)",
    layer="listener_tower",
    cause=("The tape has not recorded",),
)
enter("quince_harvest", "unscaled inputs", "exploding_gradient", cause=("The inputs are not scaled",))
enter(
    "solfatara_level",
    "recurrence that grows",
    "exploding_gradient",
    layer="memory",
    cause=("has a function without an end",),
)
enter("tooth_xray", "softmax over one", "loss_plateau", layer="has_cavity", cause=("A softmax over one unit",))
enter("umbrella_rental", "x / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.abs(y_true - y_pred) / y_true")
enter(
    "wolf_pawprints",
    "sqrt at 0",
    "singular_gradient",
    operations=("SqrtGrad",),
    code="tf.sqrt(total)",
    layer="distance",
)

enter_healthy(HERE / "healthy")
