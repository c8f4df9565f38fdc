"""A thirty-seventh set by two who had not seen the rules: 16 that only fail to learn, 10 healthy.

The healthy ones were written to tempt a monitor. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtysixth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-seventh set")

enter("bird_calls_vii", "running statistics", "loss_plateau", cause=("momentum",))
enter("clause_pooling", "softmax of one", "zero_gradient", "loss_plateau", cause=("axis of length one",))
enter("clinic_multitask", "sums that are never cleared", "exploding_gradient", cause=("not those of the batch",))
enter("district_heat", "broadcast", "loss_plateau", code="forecast - y", cause=("broadcast",))
enter("drone_dqn", "broadcast", "loss_plateau", code="goal - q_a", cause=("broadcast",))
enter("leaf_photos", "schedule in epochs", "loss_plateau", cause=("schedule",))
enter("leaf_vae", "posterior collapse", "dead_units", cause=("penalty",))
enter("load_profiles", "drawn when traced", "loss_plateau", code="rng.", cause=("inside a compiled function",))
enter(
    "loan_default_vii", "unscaled inputs", "loss_plateau", "dead_units", "lr_too_high", cause=("inputs are not scaled",)
)
enter("micrograph_denoise", "wrong output for the targets", "saturated_activation", cause=("does not fit the targets",))
enter("motion_siamese", "collapsed representation", "loss_plateau", code="p * z", cause=("outputs collapse",))
enter("pump_survival_vii", "risk set", "loss_plateau", code="cumulative_logsumexp", cause=("wrong way",))
enter("recipe_match", "drawn when traced", "loss_plateau", code="rng.", cause=("inside a compiled function",))
enter("road_speeds_vii", "reshape for transpose", "loss_plateau", code="tf.reshape(x", cause=("transpose is missing",))
enter("rod_heat_vii", "second derivative of relus", "loss_plateau", cause=("no second derivative",))
enter("sensor_compress", "KL of logits", "loss_plateau", code="kld(", cause=("logarithms",))

enter_healthy(HERE / "healthy")
