"""A fiftieth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

One of each family of the studies again, after the forty-ninth, several of them in eager loops. They were first played
as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortyninth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fiftieth set")

enter("fabric_swatches", "mean of what has none", "vanishing_gradient", layer="conv2d", cause=("a mean of 0",))
enter("harp_recordings", "files sorted by name", "dead_units", "loss_plateau", cause=("do not belong to the inputs",))
enter("hostel_bookings", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="share = y_true /")
enter("kayak_rentals", "broadcast", "loss_plateau", code="advantage = takings - value")
enter("moss_closeups", "power of 0", "singular_gradient", operations=("PowGrad",), code="1.0 / self.p")
enter("pastry_weights", "discriminator that stays frozen", "missing_gradient", cause=("never thawed",))
enter("pebble_shapes", "accumulation counted in samples", "loss_plateau", cause=("hardly ever changes",))
enter("picnic_baskets", "variables unknown to Keras", "missing_gradient", layer="table", cause=("does not know of",))
enter(
    "pigment_spectra",
    "overflow of float16",
    "nonfinite_activation",
    operations=("BatchMatMulV2",),
    code="tf.matmul(q, k",
)
enter("podcast_listeners", "start at zero", "zero_gradient", layer="factors", cause=("began at exactly 0",))
enter(
    "pond_maps", "masks turned by another draw", "loss_plateau", code="turn(image), turn(mask)", cause=("do not lie",)
)
enter("pump_cycles", "power that grows", "exploding_gradient", operations=("Pow",), code="tf.pow(", cause=("above 1",))
enter(
    "quake_traces",
    "amplitude scaled away",
    "loss_plateau",
    cause=("scale",),
    gap="each sample is divided by its own deviation, as others do on purpose; what is left is learned by heart",
)
enter("spice_aromas", "sign of a cosine", "loss_plateau", code="cosine_similarity(a, b)", cause=("negative",))

enter_healthy(HERE / "healthy")
