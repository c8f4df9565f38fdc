"""A fifty-fifth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Of the families of the published studies, written anew as people have them today. They were first played as users have
it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftyfourth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-fifth set")

enter("alloy_hardness", "two factors that start at zero", "zero_gradient", cause=("began at exactly 0",))
enter("arm_angles_lv", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(density)")
enter("banner_clicks", "arguments of a loss exchanged", "loss_plateau", cause=("arguments of the loss",))
enter("basket_department", "0 / 0", "nonfinite_gradient", operations=("RealDiv",), code="/ n_lines")
enter(
    "belt_activity",
    "softmax over another axis",
    "loss_plateau",
    cause=("not along the last one",),
)
enter("bird_clips", "power of 0", "singular_gradient", operations=("Pow",), code="tf.pow(energy, self.root)")
enter("crane_dqn_lv", "state changed in place", "loss_plateau", cause=("same array",))
enter("forearm_emg", "reshape for transpose", "loss_plateau", code="tf.reshape(emg", cause=("axes should change",))
enter("galaxy_shapes_lv", "schedule in epochs", "loss_plateau", cause=("schedule of the learning rate",))
enter("mic_bearing", "acos of 1", "singular_gradient", operations=("Reciprocal",), code="tf.acos(cosine)")
enter("pigment_vae", "number of Python's in a compiled step", "loss_plateau", cause=("read it once",))
enter(
    "pressure_dial",
    "images turned without their targets",
    "loss_plateau",
    cause=("turned",),
    gap="that a number is read off the orientation of an image is not known",
)
enter("ticket_router_lv", "mask the wrong way round", "loss_plateau", cause=("wrong way round",))
enter("used_vans", "ids numbered anew", "loss_plateau", cause=("prepared differently",))

enter_healthy(HERE / "healthy")
