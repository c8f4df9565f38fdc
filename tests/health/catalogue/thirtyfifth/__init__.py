"""A thirty-fifth set by two who had not seen the rules: 18 that only fail to learn, 8 healthy.

They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtyfourth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-fifth set")

enter("ad_clicks", "variables that Keras does not know", "missing_gradient", cause=("Keras does not know",))
enter("bike_demand_v", "sums that are never cleared", "exploding_gradient", cause=("not those of the batch",))
enter("bird_calls_v", "data in order", "dead_units", "loss_plateau", cause=("come in order",))
enter("catch_dqn", "broadcast", "loss_plateau", code="target - q", cause=("broadcast",))
enter("cell_image_vae", "posterior collapse", "dead_units", cause=("penalty",))
enter("ctc_digit_strings", "labels that are the blank", "loss_plateau", code="ctc_loss", cause=("blank",))
enter(
    "ecg_beats_v", "weights put back", "loss_plateau", code="set_weights(self.average)", cause=("leaves other weights",)
)
enter(
    "grid_load_v",
    "float16 rounding",
    "loss_plateau",
    gap="a number that is rounded in float16 before a sine is taken of it looks like any other",
)
enter("leaf_species_v", "schedule in epochs", "loss_plateau", cause=("schedule",))
enter("parcel_locator", "sigmoid twice", "loss_plateau", code="tf.sigmoid(out", cause=("applied twice",))
enter("point_cloud_diffusion", "drawn when traced", "loss_plateau", code="rng.", cause=("inside a compiled function",))
enter("recall_transformer", "reshape for transpose", "loss_plateau", code="ops.reshape(x", cause=("heads hold slices",))
enter("reverse_cipher_seq2seq", "target among the inputs", "loss_plateau", cause=("among what it is predicted from",))
enter("ring_gan_v", "the other player's variables", "loss_plateau", cause=("one player moves the other",))
enter("rod_temperature_pinn", "second derivative of relus", "loss_plateau", cause=("no second derivative",))
enter("sensor_distillation", "KL of logits", "loss_plateau", code="kl(t, s)", cause=("softmax before the KL",))
enter("ticket_routing_v", "padding without a mask", "loss_plateau", "dead_units", cause=("padding stands",))
enter("turbine_health", "number read at the trace", "loss_plateau", code="life_weight", cause=("read it once",))

enter_healthy(HERE / "healthy")
