"""The verdict on predictions that are no better than guessing: what the gradient says of them, and the causes."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.book import UPDATE_RATIO
from gradwatch_server.health.episode import Unskilled
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.learning_rate import HIGH_RATIO, RATIO_LIMIT
from gradwatch_server.health.verdict.advice_growth import (
    INITIAL_CODE,
    VARIANCE_RATIO,
    advise_rate,
    advise_scale,
    advise_small_inputs,
    layers_of,
    say_variance,
    start_as_usual,
)
from gradwatch_server.health.verdict.advice_misfit import advise_labels
from gradwatch_server.health.verdict.advice_stall import (
    advise_columns,
    advise_sequences,
    advise_steps,
    advise_target_spread,
)
from gradwatch_server.health.verdict.scene import Scene, table_of, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["tell_unskilled"]

FAR_FACTOR: Final = 1.4
"""Times the distance that guessing gives: what learns labels by heart that say nothing is not so far off."""
PENALTY_CODE: Final = """\
layer = tf.keras.layers.Dense(64, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(1e-4))
print("penalty", float(tf.add_n(model.losses)))          # beside the error, before training"""
PENALTY_FACTOR: Final = 2.0
"""Times the error in it: a loss that is mostly something else."""


def tell_unskilled(lead: Unskilled, scene: Scene) -> Finding:
    """The finding of predictions that are no better than guessing."""
    table = table_of(lead)
    layer = table.layer_of(lead.column)
    guesses = _say_guesses(lead)
    n_steps = lead.last_step - lead.first_step + 1
    word = "worse than" if lead.is_worse else "hardly better than" if lead.is_hardly else "no better than"
    since = f"after {n_steps:,} steps" if lead.is_open else f"until {say_step(lead.closed_step or lead.last_step)}"
    title = f"The predictions {'are' if lead.is_open else 'were'} {word} {guesses} {since}"
    return tell(
        lead,
        scene,
        title=title,
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            _summarise(lead, layer, guesses),
            distance=lead.distance,
            guess=lead.guess,
            is_worse=lead.is_worse,
            is_final=lead.is_final,
        ),
        hypotheses=_advise(lead, scene),
        subject="predictions",
    )


def _say_guesses(lead: Unskilled) -> str:
    if math.isinf(lead.farthest):
        return "giving the mean of the targets for every input"
    return f"guessing among {lead.n_classes:,} classes" if lead.n_classes > 1 else "giving every sample one probability"


def _summarise(lead: Unskilled, layer: str, guesses: str) -> str:
    number, guess = say_number(lead.distance), say_number(lead.guess)
    if math.isinf(lead.farthest):
        return (
            f"The mean squared error of what {layer} gives was {number} of late, without the penalties that a loss may "
            f"have beside it; {guesses} has {guess}, the variance of the targets."
        )
    fresh = " At first, while the samples were new, it did not follow the labels at all." if lead.is_hardly else ""
    wrong = "being sure of a wrong class every time 2" if lead.farthest > 1 else "being sure and wrong every time 1"
    return (
        f"The Brier score of what {layer} predicts was {number} of late: the mean squared distance of the "
        f"probabilities from the labels, read off the gradient. Where {guesses} has {guess}, being sure "
        f"and right has 0, and {wrong}.{fresh}"
    )


def _advise(lead: Unskilled, scene: Scene) -> list[Hypothesis]:
    """Causes of predictions that are no better than guessing, the likeliest first."""
    meaning = "the mean of its targets" if math.isinf(lead.farthest) else "what guessing gives"
    found = [
        *_advise_penalty(lead, scene),
        *advise_columns(scene),
        *advise_small_inputs(scene.start.largest_input, scene.start.prepared),
    ]
    if math.isinf(lead.farthest):
        found += advise_target_spread(lead.guess)
    if lead.is_worse and not found:
        found += advise_scale(scene, 0.8)
    if found:  # the more so as nothing is learned: the rest is what one would look at next
        return sorted([*found, advise_labels(meaning, 0.15)], key=lambda hypothesis: -hypothesis.confidence)
    if lead.is_worse:
        is_far = lead.distance > FAR_FACTOR * lead.guess
        found = [*_advise_start(scene), *_advise_size(scene), advise_labels(meaning, 0.15 if is_far else 0.5)]
    else:
        found = [*advise_sequences(lead.n_gates, scene), advise_labels(meaning), *advise_steps(scene)]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def _advise_penalty(lead: Unskilled, scene: Scene) -> list[Hypothesis]:
    """A penalty that is most of the loss, where the loss is far larger than the error in it."""
    loss = scene.testimony.known.read_loss()
    initial, recent = loss.initial or 0.0, loss.recent or 0.0
    error = lead.distance if math.isinf(lead.farthest) else lead.entropy
    if lead.is_worse or not max(initial, recent) > PENALTY_FACTOR * error:
        return []
    return [
        Hypothesis(
            "Regularisation outweighs the error",
            0.85,
            f"Of the loss, {say_number(initial)} at first and {say_number(recent)} now, the error of the predictions "
            f"is about {say_number(error)}. The rest is added to it, as a penalty on the weights is: training makes "
            "that smaller, and with it what the layers pass on.",
            "Lower the penalty, by orders of magnitude, until it is a small part of the loss.",
            PENALTY_CODE,
        )
    ]


def _advise_start(scene: Scene) -> list[Hypothesis]:
    start = scene.start
    if start.ratio > VARIANCE_RATIO:
        seen = say_variance(start)
    elif start.grown > VARIANCE_RATIO:
        seen = f"In the first steps the standard deviation of the outputs grew {say_number(start.grown**0.5)}-fold, "
        seen += "layer by layer."
    else:
        return []
    return [
        Hypothesis(
            "The weights start too large for the depth",
            0.6,
            seen + " Outputs that start far out are sure of anything but the right answer, and it takes "
            "long to bring them back.",
            "Use a variance-keeping initialiser, and normalise the inputs to about [-1, 1].",
            INITIAL_CODE,
            start_as_usual(*layers_of(scene)),
        )
    ]


def _advise_size(scene: Scene) -> list[Hypothesis]:
    ratio = scene.update_ratio
    if ratio is None:  # it was so from the first step on: what is known of the steps since
        ratio = scene.testimony.known.read(UPDATE_RATIO).highest
    if ratio is None:
        return [advise_rate(scene, 0.4)]
    return [advise_rate(scene, 0.75 if ratio > RATIO_LIMIT else 0.45)] if ratio > HIGH_RATIO else []
