"""A thirty-second set by three who had not seen the rules: 4 that meet NaN, 12 that only fail to learn, 18 healthy.

One of the three took families of the studies, one what people ask about in forums, one healthy trainings alone. They
were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtyfirst import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-second set")

enter("claim_frequency", "log(0)", "nonfinite_gradient", operations=("Log",), code="tf.where", cause=("masked after",))
enter(
    "next_click_attention",
    "softmax of -Inf",
    "nonfinite_activation",
    code="tf.nn.softmax",
    cause=("masked after", "nothing but -Inf"),
)
enter("power_load_lstm", "recurrence without an end", "exploding_gradient", cause=("function without an end",))
enter("signature_triplet", "sqrt(0)", "singular_gradient", code="keras.ops.sqrt", cause=("square root of exactly 0",))

enter("basecaller", "labels that count from 0", "loss_plateau", cause=("The labels count from 0",))
enter("bearing_state", "wrong axis", "dead_units", cause=("gave 0 for every sample",))
enter("dial_tone_ctc", "labels that count from 0", "loss_plateau", code="ctc_loss", cause=("The labels count from 0",))
enter("diffusion_moons", "random numbers drawn once", "loss_plateau", code="np.random", cause=("inside a compiled",))
enter("jet_tagger", "sums that are never cleared", "exploding_gradient", cause=("never set back to zero",))
enter("load_curve_vae", "activation of a code", "loss_plateau", cause=("encoder's last layer",))
enter("nuclei_unet", "inputs and targets shuffled apart", "loss_plateau", cause=("do not belong to the inputs",))
enter("pinn_oscillator", "second derivative of relu", "loss_plateau", cause=("no second derivative",))
enter("room_response", "initialisation", "loss_plateau", code="tf.sin", cause=("too large for a sine",))
enter(
    "sleep_stages",
    "wrong axis",
    "loss_plateau",
    gap="samples and times are exchanged before the step, in NumPy, and some is learned all the same",
)
enter("ticket_lstm", "padding at the end", "loss_plateau", cause=("padding stands",))
enter("warehouse_board_dqn", "one array for all states", "loss_plateau", cause=("the same array",))

enter_healthy(HERE / "healthy")
