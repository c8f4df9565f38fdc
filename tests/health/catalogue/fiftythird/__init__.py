"""A fifty-third set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Of steps of one's own: several optimizers, policies, adversaries, diffusion, attention, graphs, pairs, derivatives,
terms of a loss, distillation. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftysecond import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-third set")

enter("bearing_half", "float16 overflow", "nonfinite_activation", operations=("Sum",), code="tf.square(x), axis=1")
enter("bird_student", "logarithms for probabilities", "zero_gradient", "loss_plateau", code="tf.nn.log_softmax(said)")
enter("film_club", "gradients unpacked in another order", "loss_plateau", cause=("in another order",))
enter(
    "greenhouse_pilot",
    "returns of the past",
    "loss_plateau",
    code="running = rewards[t]",
    cause=("summed from the wrong end",),
)
enter(
    "heartbeat_diffusion",
    "an axis taken for another",
    "loss_plateau",
    gap="a number for each sample that meets each place of one, where both happen to be as many, is not looked at",
)
enter(
    "orchard_tasks",
    "weights of terms that become negative",
    "loss_plateau",
    code="self.balance * tasks",
    cause=("weights of the errors negative",),
)
enter("pollen_gan", "generator's step trains the judge", "loss_plateau", cause=("one player moves the other",))
enter("rod_heat_liii", "derivative outside of the tape", "loss_plateau", cause=("outside of the tape",))
enter("shelf_lookup", "mask the wrong way round", "loss_plateau", cause=("wrong way round",))
enter("shell_sorter", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(known)")
enter("sound_compass", "acos of 1", "singular_gradient", operations=("Reciprocal",), code="tf.acos(cosine)")
enter("stamp_captions", "pairs shuffled apart", "loss_plateau", cause=("do not belong together",))
enter("tide_gauges", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.math.reduce_std(x")
enter("village_graph", "messages to their senders", "loss_plateau", cause=("summed at the sender",))

enter_healthy(HERE / "healthy")
