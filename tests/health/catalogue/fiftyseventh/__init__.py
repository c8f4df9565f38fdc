"""A fifty-seventh set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Of larger programs, without what stands in every textbook. They were first played as users have it, within the default
budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftysixth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-seventh set")

enter("bag_assay", "softmax over an axis of one", "zero_gradient", cause=("an axis of length one",))
enter("bike_rides", "inputs and targets shuffled apart", "loss_plateau", code="np.random.shuffle(self.y)")
enter("cart_balance", "ends of episodes not read", "loss_plateau", code="R[t] + GAMMA * running")
enter("clinic_labs", "scaled by one number", "loss_plateau", layer="normalization", cause=("column by column",))
enter(
    "crop_yield_lvii",
    "learning rate that is NaN",
    "nonfinite_activation",
    cause=("learning rate itself was not finite",),
)
enter("glyph_codes_lvii", "posterior collapse", "dead_units", cause=("stronger than the rest of the loss",))
enter("leaf_scans", "augmentation that is cached", "loss_plateau", code=".cache()", cause=("is cached",))
enter("melody_next", "future that is seen", "loss_plateau", cause=("looks at the times to come",))
enter("protein_map", "power of 0", "nonfinite_activation", operations=("Pow",), code="tf.pow(")
enter("ring_styles", "condition of another sample", "loss_plateau", cause=("condition of other samples",))
enter("road_masks", "schedule in epochs", "loss_plateau", cause=("schedule of the learning rate",))
enter("sensor_pairs", "positives that are none", "loss_plateau", cause=("in another order",))
enter("stamp_match", "root of 0", "singular_gradient", operations=("SqrtGrad",), code="tf.sqrt(")
enter("wind_field", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="/ snr")

enter_healthy(HERE / "healthy")
