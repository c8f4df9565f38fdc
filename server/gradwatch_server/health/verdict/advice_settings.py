"""Causes that stand in what the optimizer was made with: settings that undo, delay, throw or shrink its steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from gradwatch_server.health.book import GRADIENT_NORM, LEARNING_RATE
from gradwatch_server.health.episode import (
    Behind,
    Collapsed,
    Episode,
    Faint,
    Flat,
    Growth,
    Plateau,
    Rate,
    Relapse,
    Runaway,
    Still,
    Unrelated,
    Unskilled,
    Vanishing,
    Zero,
)
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.misset import FEW_UPDATES, find_swapped_betas
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import say_change
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step

__all__ = ["LEFT", "WARM_UP_CODE", "advise_betas", "advise_settings", "advise_unapplied", "fitting_momentum"]

LEARNS_NOTHING: Final[tuple[type[Episode], ...]] = (
    Behind,
    Collapsed,
    Faint,
    Plateau,
    Still,
    Unrelated,
    Unskilled,
    Vanishing,
)
IS_THROWN: Final[tuple[type[Episode], ...]] = (
    Collapsed,
    Flat,
    Growth,
    Plateau,
    Rate,
    Relapse,
    Runaway,
    Unskilled,
    Zero,
)

LEFT: Final = 0.01
"""Of what an average began with, what a momentum that is advised leaves at the most."""
KEPT_LIMIT: Final = 0.1
"""The part of the optimizer's steps that a usual average over the weights leaves, at the least."""
EPSILON_FACTOR: Final = 10.0
"""How many times a usual gradient's element Adam's epsilon must be to be what sets the size of its steps."""
LONG_MOMENTUM: Final = 0.99
"""A usual momentum is 0.9: steps ten times the rate. From here on it is a hundred times."""
DECAY_LIMIT: Final = 1.0
"""Of a weight decay: steps of the size of the rate hold weights at one over it (the default is 0.004, few take 0.5)."""
WARM_UP_STEPS: Final = 100
WARM_UP_FACTOR: Final = 2.0
"""How long, and by how much, a rate has risen at the least where it is still on its way."""
SMALL_RATIO: Final = 0.2
"""Of a usual update's share of the weights, what those of a warm-up were at the most that has led nowhere."""
ADADELTA_RATE: Final = 0.1
"""Of Adadelta, whose rate was meant to be 1 (Zeiler 2012)."""

AVERAGE_CODE: Final = """\
# The average is for evaluation: leave it alone during training, and write it to the weights at the end
optimizer = tf.keras.optimizers.Adam(1e-3, use_ema=True, ema_momentum=0.99)
model.fit(x, y)
optimizer.finalize_variable_values(model.trainable_variables)"""

EPSILON_CODE: Final = """\
optimizer = tf.keras.optimizers.Adam(1e-3)                        # the default epsilon is 1e-7"""

BETAS_CODE: Final = """\
optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.9, beta_2=0.999)"""

MOMENTUM_CODE: Final = """\
optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)           # steps of up to 0.01 / (1 - 0.9) = 0.1"""

ACCUMULATION_CODE: Final = """\
optimizer = tf.keras.optimizers.Adam(1e-3, gradient_accumulation_steps=4)   # or omit it: an update at each step"""

UNAPPLIED_CODE: Final = """\
gradients = tape.gradient(loss, variables)
gradients, norm = tf.clip_by_global_norm(gradients, 1.0)          # what it returns; the list itself stays as it was
optimizer.apply_gradients(zip(gradients, variables))"""

DECAY_CODE: Final = """\
optimizer = tf.keras.optimizers.AdamW(1e-3, weight_decay=0.004)"""

WARM_UP_CODE: Final = """\
n_steps = n_epochs * steps_per_epoch
schedule = tf.keras.optimizers.schedules.CosineDecay(
    0.0, n_steps, warmup_target={rate:g}, warmup_steps=n_steps // 20)"""

ADADELTA_CODE: Final = """\
optimizer = tf.keras.optimizers.Adadelta(1.0)                     # or Adam(1e-3)"""


def advise_settings(scene: Scene) -> list[Hypothesis]:
    """The settings of the lead's optimizer that explain what the lead shows; none where they are as usual."""
    lead, found = scene.incident.lead, []
    if isinstance(lead, LEARNS_NOTHING):
        found += [*_average(scene), *advise_accumulation(scene), *_epsilon(scene), *_adadelta(scene)]
        found += [*_decay(scene), *_warm_up(scene)]
    if isinstance(lead, IS_THROWN):
        found += [*advise_betas(scene), *_momentum(scene), *advise_unapplied(scene)]
    return found


def advise_unapplied(scene: Scene) -> list[Hypothesis]:
    """Gradients that are clipped in the script, and applied as they were before; none where it shows no such."""
    call = scene.setup.find_call("unapplied")
    if call is None:
        return []
    name, line = call["layer"], call["lines"][0]
    is_short = name is not None and len(call["lines"]) == 1
    changed = f"{line[: call['start']]}{name}{line[call['end'] :]}".strip()
    return [
        Hypothesis(
            f"The gradients are clipped, but the unclipped ones are applied{say_line(call)}",
            0.95,
            (f"`{name}` holds the clipped gradients, and nothing reads it. " if name else "")
            + "The functions that clip change nothing in place: they return new tensors. The optimizer gets the "
            "gradients as they were, however large.",
            f"Give the optimizer `{name}`."
            if name
            else "Assign what the clip returns, and give that to the optimizer.",
            say_change(line, changed) if is_short else UNAPPLIED_CODE,
        )
    ]


def keep_share(momentum: float, period: int) -> float:
    """The part of ``period`` equal steps that is left once the weights are replaced by their running average.

    An average ``a = momentum * a + (1 - momentum) * w`` that began at the weights is behind them by
    ``momentum * (1 - momentum**period) / (1 - momentum)`` steps after ``period`` of them.

    Args:
        momentum: of the average, in [0, 1).
        period: steps from one replacement to the next.
    """
    return 1.0 - momentum * (1.0 - momentum**period) / ((1.0 - momentum) * period)


def _average(scene: Scene) -> list[Hypothesis]:
    setup = scene.setup
    period, momentum = setup.number("ema_overwrite_frequency"), setup.number("ema_momentum")
    if not (setup.settings.get("use_ema") is True and period and period >= 1 and momentum and 0 < momentum < 1):
        return []
    kept = keep_share(momentum, int(period))
    if kept >= KEPT_LIMIT:
        return []
    often = "at every step" if period == 1 else f"every {period:,.0f} steps"
    return [
        Hypothesis(
            "The optimizer writes the average of the weights over the weights (`ema_overwrite_frequency`)",
            0.95,
            f"With `use_ema` and `ema_overwrite_frequency={period:.0f}` Keras replaces the weights with their running "
            f"average {often}. With a momentum of {momentum:g} the average has moved only {say_number(100 * kept)} % "
            "of the way by then: the rest of every step is undone.",
            "Omit `ema_overwrite_frequency`, and write the average to the weights once, after training.",
            AVERAGE_CODE,
            (Change("optimizer", without=("ema_overwrite_frequency",)),),
        )
    ]


def advise_accumulation(scene: Scene) -> list[Hypothesis]:
    """Gradients of so many batches are added up for each update that there are hardly any; none where there are."""
    period = scene.setup.number("gradient_accumulation_steps")
    n_steps = scene.facts.last_row + 1
    if period is None or period < 2 or n_steps >= FEW_UPDATES * period:
        return []
    n_updates = int(n_steps // period)
    hardly = "hardly ever changes the weights" if n_updates else "waits for more gradients than training has steps"
    return [
        Hypothesis(
            f"The optimizer {hardly} (`gradient_accumulation_steps`, which counts batches)",
            0.9,
            f"With `gradient_accumulation_steps={period:,.0f}` the weights change once every {period:,.0f} steps: "
            f"{say_count(n_updates, 'time')} in the {n_steps:,} so far.",
            "For 256 samples in batches of 16 it is 16. Accumulate a few batches, or none. The learning rate applies "
            "to each update, and there are fewer updates.",
            ACCUMULATION_CODE,
            (Change("optimizer", without=("gradient_accumulation_steps",)),),
        )
    ]


def _epsilon(scene: Scene) -> list[Hypothesis]:
    epsilon, table = scene.setup.number("epsilon"), scene.incident.lead.table
    norm, ratio = scene.testimony.known.read(GRADIENT_NORM).recent, scene.update_ratio
    if epsilon is None or table is None or norm is None or scene.setup.number("beta_2") is None:
        return []
    size = norm / math.sqrt(max(float(table.n_elements[table.gradient].sum()), 1.0))
    if not (0 < EPSILON_FACTOR * size < epsilon) or (ratio is not None and ratio >= USUAL_RATIO):
        return []
    return [
        Hypothesis(
            f"The optimizer's epsilon, {epsilon:g}, is far larger than the gradients",
            0.85,
            "Adam divides each gradient by its usual size plus epsilon, so a step is about as large as the learning "
            f"rate. Here the root mean square of a gradient's elements is {say_number(size)}. Divided by {epsilon:g}, "
            f"steps are {say_number(epsilon / size)} times smaller than the learning rate says.",
            "Leave epsilon at its default of 1e-7. If the loss is multiplied by a small factor, remove the factor.",
            EPSILON_CODE,
            (Change("optimizer", without=("epsilon",)),),
        )
    ]


def _adadelta(scene: Scene) -> list[Hypothesis]:
    rate = scene.learning_rate
    if scene.setup.optimizer_class != "Adadelta" or rate is None or not 0 < rate < ADADELTA_RATE:
        return []
    return [
        Hypothesis(
            f"Adadelta finds the size of its steps by itself, and the learning rate of {rate:g} multiplies it",
            0.9,
            "It starts with tiny steps and enlarges them as it learns. Its authors use a learning rate of 1; the "
            "Keras default is 0.001, and a thousandth of a tiny step leads nowhere.",
            "Use a learning rate of 1, or use Adam.",
            ADADELTA_CODE,
            (Change("optimizer", given=(("learning_rate", "1.0"),)),),
        )
    ]


def _decay(scene: Scene) -> list[Hypothesis]:
    decay, rate = scene.setup.number("weight_decay"), scene.learning_rate
    if decay is None or decay < DECAY_LIMIT:
        return []
    each = "" if rate is None or not rate > 0 else f": here {say_number(100 * rate * decay)} % at each step"
    return [
        Hypothesis(
            f"The optimizer's weight decay, {decay:g}, keeps the weights at next to nothing",
            0.9,
            f"Each step makes every weight smaller by the learning rate times the decay{each}. Where a step of Adam is "
            f"about as large as the learning rate, no weight gets beyond {say_number(1 / decay)}.",
            "The default of AdamW is 0.004; 0.01 to 0.1 is usual. A decay that was chosen as a penalty in the loss, or "
            "for another rate, means something else here.",
            DECAY_CODE,
            (Change("optimizer", instead=(("weight_decay", "0.004"),)),),
        )
    ]


def _warm_up(scene: Scene) -> list[Hypothesis]:
    known, ratio = scene.testimony.known, scene.update_ratio
    since, rate = known.rising_since(LEARNING_RATE), known.read(LEARNING_RATE).newest
    if since is None or rate is None or ratio is None or ratio >= SMALL_RATIO * USUAL_RATIO:
        return []
    step, before = since
    n_steps = known.step - step
    if n_steps < WARM_UP_STEPS or rate < WARM_UP_FACTOR * before:
        return []
    return [
        Hypothesis(
            "The warm-up takes longer than the training: the learning rate has not arrived yet",
            0.9,
            f"It has risen since {say_step(step)} and was {say_number(rate)} {n_steps:,} steps later. Up to then no "
            f"update was more than {say_number(100 * ratio)} % of the weights it changed; about "
            f"{100 * USUAL_RATIO:g} % is usual.",
            "`warmup_steps` counts steps, one per batch. Take a few hundred, or a twentieth of all.",
            WARM_UP_CODE.format(rate=1e-3),
        )
    ]


def advise_betas(scene: Scene) -> list[Hypothesis]:
    """An optimizer that forgets a gradient's size before its direction."""
    betas = find_swapped_betas(scene.setup)
    if betas is None:
        return []
    first, second = betas
    return [
        Hypothesis(
            "`beta_1` and `beta_2` look swapped",
            0.9,
            f"`beta_1={first:g}` averages the gradients over {1 / (1 - first) if first < 1 else math.inf:,.0f} steps "
            f"and `beta_2={second:g}` their squares over {1 / (1 - second) if second < 1 else math.inf:,.0f}. An old, "
            "large average is divided by a recent, small size, so steps are many times the learning rate.",
            "Omit both, or give `beta_1` the smaller one.",
            BETAS_CODE,
            (Change("optimizer", without=("beta_1", "beta_2")),),
        )
    ]


def _momentum(scene: Scene) -> list[Hypothesis]:
    momentum = scene.setup.number("momentum")
    if momentum is None or not LONG_MOMENTUM <= momentum < 1:
        return []
    return [
        Hypothesis(
            f"A momentum of {momentum:g} makes steps {1 / (1 - momentum):,.0f} times the learning rate",
            0.85,
            f"Steps in one direction add up to rate / (1 - momentum), and continue for {1 / (1 - momentum):,.0f} "
            "steps after the gradient has turned: the weights overshoot every minimum. 0.9 is usual.",
            "Use 0.9. With a higher momentum, lower the learning rate by the same factor.",
            MOMENTUM_CODE,
            (Change("optimizer", instead=(("momentum", "0.9"),)),),
        )
    ]


def fitting_momentum(options: Sequence[float], n_steps: int) -> float:
    """The first of some momenta that leaves next to nothing of where an average began; else the last."""
    return next((one for one in options if one**n_steps <= LEFT), options[-1])
