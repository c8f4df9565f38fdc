"""Words for settings of an optimizer or a callback that undo one another, or the training."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any, Final

from gradwatch_server.health.book import UPDATE_RATIO
from gradwatch_server.health.episode import Misset
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.misset import find_swapped_betas
from gradwatch_server.health.setup import source_of
from gradwatch_server.health.verdict.advice_settings import (
    WARM_UP_CODE,
    advise_accumulation,
    advise_betas,
    advise_unapplied,
    fitting_momentum,
)
from gradwatch_server.health.verdict.decayed import advise_compounded
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.own_line import parse_call
from gradwatch_server.health.verdict.rewrite import say_change, with_factor
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_count, say_number

__all__ = ["tell_misset"]


EPSILON_CODE: Final = """\
optimizer = tf.keras.optimizers.{name}({rate:g})                # its own epsilon is 1e-7"""


MONITOR_CODE: Final = """\
tf.keras.callbacks.{name}(monitor="{monitor}", mode="{mode}")"""
AVERAGE_CODE: Final = """\
optimizer = tf.keras.optimizers.{name}({rate:g}, use_ema=True, ema_momentum={momentum:g})"""
MOMENTA: Final = (0.999, 0.998, 0.995, 0.99, 0.98, 0.95, 0.9)
NO_MOVE: Final = 1e-9
"""Of itself: what a float32 weight does not even notice."""


def _tell_epsilon(lead: Misset, scene: Scene, name: str) -> Finding:
    """An epsilon beside which the gradients are nothing."""
    ratio = scene.testimony.known.read(UPDATE_RATIO).recent
    epsilon, gradient = say_number(lead.epsilon), say_number(lead.gradient)
    moved = "less than 1e-9" if ratio is None or ratio < NO_MOVE else say_number(ratio)
    times = say_number(lead.epsilon / lead.gradient)
    why = (
        f"{name} divides each gradient by its own usual size plus epsilon, so that its steps are about as large as the "
        f"learning rate says. Here epsilon, {epsilon}, is {times} times the largest gradient: it is all that is "
        "divided by, and the steps are as much smaller than meant."
    )
    return tell(
        lead,
        scene,
        title=f"The epsilon of {name}, {epsilon}, is {times} times the gradients: its steps are next to nothing",
        evidence=scene.evidence(
            f"No kernel's gradient has been larger than {gradient} (root mean square). A step has moved "
            f"its kernels by {moved} of themselves (median), where about {USUAL_RATIO:g} is usual.",
            epsilon=lead.epsilon,
            gradient=lead.gradient,
            ratio=ratio,
        ),
        hypotheses=[
            Hypothesis(
                f"The epsilon of {name} is far above the gradients",
                0.95,
                why,
                f"Leave `epsilon` out ({name}'s own is 1e-7). Only where it is meant: scale targets and loss so that "
                "the gradients are larger than it.",
                EPSILON_CODE.format(name=name, rate=scene.learning_rate or 1e-3),
                (Change("optimizer", without=("epsilon",)),),
            )
        ],
        subject="settings",
    )


def _tell_average(lead: Misset, scene: Scene, name: str) -> Finding:
    """An average of the weights over more steps than there were."""
    momentum = scene.setup.number("ema_momentum") or 0.0
    fitting = fitting_momentum(MOMENTA, lead.n_rows - 1)
    reach = f"{1 / (1 - momentum):,.0f}" if momentum < 1 else "endless"
    return tell(
        lead,
        scene,
        title=f"After `fit` the model's weights are {lead.first_share:.0%} those of its first step: `ema_momentum` "
        f"{momentum:g} in {lead.n_rows:,} steps",
        evidence=scene.evidence(
            f"{name} was made with use_ema=True and ema_momentum={momentum:g}, and has made {lead.n_rows:,} steps: "
            f"{momentum:g} to the power of {lead.n_rows - 1:,} is {lead.first_share:.2g}.",
            momentum=momentum,
            first_share=lead.first_share,
        ),
        hypotheses=[
            Hypothesis(
                "The average of the weights reaches further back than the training",
                0.95,
                f"With `use_ema` the optimizer averages the weights over some {reach} steps, and `fit` puts the "
                "average in their place at its end. The loss that it shows meanwhile is that of the weights as they "
                "were trained; what is evaluated and saved afterwards is the average.",
                "Average over a tenth of the steps or less, or leave the average out.",
                AVERAGE_CODE.format(name=name, rate=scene.learning_rate or 1e-3, momentum=fitting),
                (Change("optimizer", given=(("ema_momentum", f"{fitting:g}"),)),),
            )
        ],
        subject="settings",
    )


def _tell_few_updates(lead: Misset, scene: Scene, name: str) -> Finding:
    """Gradients that are added up over so many batches that the weights hardly ever change."""
    period = scene.setup.number("gradient_accumulation_steps") or 1.0
    updates = say_count(lead.n_updates, "update")
    return tell(
        lead,
        scene,
        title=f"The weights have had {updates} in {lead.n_rows:,} steps: "
        f"`gradient_accumulation_steps` is {period:,.0f}",
        evidence=scene.evidence(
            f"{name} adds up the gradients of {period:,.0f} batches for each update of the weights: {updates} in the "
            f"{lead.n_rows:,} batches of this training.",
            n_updates=lead.n_updates,
            gradient_accumulation_steps=period,
        ),
        hypotheses=advise_accumulation(scene),
        subject="settings",
    )


_EFFECTS: Final = {
    "ReduceLROnPlateau": "the learning rate is cut while the model still improves",
    "EarlyStopping": "the training stops while the model still improves",
    "ModelCheckpoint": "the worst weights are kept as the best",
}


def _tell_monitor(lead: Misset, scene: Scene, call: Mapping[str, Any]) -> Finding:
    """A callback that waits for the wrong change."""
    tree = parse_call(call)
    given = {} if tree is None else {one.arg: one.value for one in tree.keywords}
    name = "The callback" if tree is None else ast.unparse(tree.func).rpartition(".")[2]
    unnamed = [] if tree is None else tree.args[name == "ModelCheckpoint" :]  # that has a path before it
    first = given.get("monitor") or next(iter(unnamed), None)
    monitor, mode = (str(one.value) if isinstance(one, ast.Constant) else None for one in (first, given.get("mode")))
    monitor, right = monitor or "val_loss", "max" if mode == "min" else "min"
    other = "falling" if mode == "max" else "rising"
    change, effect = "rise" if mode == "max" else "fall", _EFFECTS.get(name, "it does the opposite of what it is to do")
    place = say_line(call)
    return tell(
        lead,
        scene,
        title=f'{name} takes a {change} of {monitor} for an improvement: `mode="{mode}"`{place}',
        source=source_of(call),
        evidence=scene.evidence(
            f'{name} watches {monitor} with mode="{mode}". A {other} {monitor} counts as no improvement, so that '
            f"{effect}."
        ),
        hypotheses=[
            Hypothesis(
                f"The `mode` of {name} is the wrong way round{place}",
                0.95,
                f'With mode="{mode}" only a {change} of {monitor} counts as progress. It is meant to '
                f"{'fall' if mode == 'max' else 'rise'}: {effect}.",
                f'Use mode="{right}", or leave it out: "auto" tells it by the metric.',
                MONITOR_CODE.format(name=name, monitor=monitor, mode=right),
                (Change("monitor", instead=(("mode", f'"{right}"'),)),),
            )
        ],
        subject="settings",
    )


def _from_first(call: Mapping[str, Any], scene: Scene) -> str | None:
    """The line with the rate that the optimizer was made with in place of the present one; None where that is open."""
    rate, line = scene.setup.number("learning_rate"), call["lines"][0]
    if rate is None or len(call["lines"]) > 1:
        return None
    before, text, after = line[: call["start"]], line[call["start"] : call["end"]], line[call["end"] :]
    product = with_factor(text, f"{rate:g}")
    return None if product is None else say_change(line, f"{before}{product}{after}".strip())


def _tell_compounded(lead: Misset, scene: Scene, call: Mapping[str, Any]) -> Finding:
    """A schedule that lays a factor of the epoch on the rate as it is."""
    place = say_line(call)
    return tell(
        lead,
        scene,
        title=f"The learning rate is multiplied anew by a factor that counts from the first epoch{place}",
        source=source_of(call),
        evidence=scene.evidence(
            "`LearningRateScheduler` hands over the epoch and the rate as it is now. The line multiplies that rate by "
            "a factor that depends on the epoch, again in every epoch."
        ),
        hypotheses=[advise_compounded(place, _from_first(call, scene))],
        subject="settings",
    )


def _tell_unapplied(lead: Misset, scene: Scene, call: Mapping[str, Any]) -> Finding:
    """A clip in vain."""
    return tell(
        lead,
        scene,
        title=f"The gradients are clipped, but the unclipped ones are applied{say_line(call)}",
        source=source_of(call),
        evidence=scene.evidence(
            f"The script clips the gradients and assigns the result to `{call['layer']}`, which nothing reads."
            if call["layer"]
            else "The script clips the gradients, and nothing reads the result."
        ),
        hypotheses=advise_unapplied(scene),
        subject="settings",
    )


def _tell_warm_up(lead: Misset, scene: Scene, _: str) -> Finding:
    """A training that ended while its rate rose."""
    first, last = map(say_number, lead.warm_up)
    n_steps = say_count(lead.n_rows, "step")
    loss = scene.testimony.known.read_loss()
    fall = (
        ""
        if loss.initial is None or loss.recent is None
        else (f" The loss came from {say_number(loss.initial)} to {say_number(loss.recent)}.")
    )
    return tell(
        lead,
        scene,
        title=f"The warm-up counts epochs: the learning rate has only come to {last} at the last step",
        evidence=scene.evidence(
            f"It rose from {first} at first to {last} after {n_steps}, once in an epoch, and never came down.{fall}",
            first_rate=lead.warm_up[0],
            rate=lead.warm_up[1],
        ),
        hypotheses=[
            Hypothesis(
                "The warm-up counts epochs where steps are meant, or is longer than the training",
                0.9,
                "A warm-up is a matter of some hundred steps. Here the rate rises once in an epoch, so all steps were "
                "taken with a small part of the rate that is meant.",
                "Compute the rate from the number of the step, in a schedule that the optimizer is given; let the "
                "warm-up last for a twentieth of the steps or so.",
                WARM_UP_CODE.format(rate=lead.warm_up[1]),
            )
        ],
        subject="settings",
    )


def tell_misset(lead: Misset, scene: Scene) -> Finding:
    """The finding of settings that undo one another, or the training."""
    first, second = find_swapped_betas(scene.setup) or (math.nan, math.nan)
    name = scene.setup.optimizer_class or "the optimizer"
    of_settings = (
        (not math.isnan(lead.epsilon), _tell_epsilon),
        (not math.isnan(lead.first_share), _tell_average),
        (lead.n_updates >= 0, _tell_few_updates),
        (not math.isnan(lead.warm_up[1]), _tell_warm_up),
    )
    for is_so, tell_it in of_settings:
        if is_so:
            return tell_it(lead, scene, name)
    if math.isnan(first) and (call := scene.setup.find_call("monitor")) is not None:
        return _tell_monitor(lead, scene, call)
    if math.isnan(first) and (call := scene.setup.find_call("compounded")) is not None:
        return _tell_compounded(lead, scene, call)
    if lead.is_unclipped and (call := scene.setup.find_call("unapplied")) is not None:
        return _tell_unapplied(lead, scene, call)
    return tell(
        lead,
        scene,
        title=f"`beta_1` and `beta_2` of {name} look swapped: {first:g} and {second:g}",
        evidence=scene.evidence(
            f"{name} was made with beta_1={first:g} and beta_2={second:g}. Adam needs beta_1 below the root of beta_2 "
            "to settle.",
            beta_1=first,
            beta_2=second,
        ),
        hypotheses=advise_betas(scene),
        subject="settings",
    )
