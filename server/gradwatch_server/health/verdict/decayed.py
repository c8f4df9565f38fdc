"""Words for a learning rate that has come down to next to nothing long before the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gradwatch_server.health.decayed import EVERY_MAX, LOW_SHARE
from gradwatch_server.health.episode import Decayed
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.advice_stall import advise_gone_rate
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step

__all__ = ["advise_compounded", "tell_decayed"]

COMPOUNDED_CODE: Final = """\
# A LearningRateScheduler hands over the rate as it is now: from the epoch alone nothing is multiplied twice
first_rate = 1e-3
schedule = tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: first_rate * math.exp(-0.15 * epoch))"""
EACH_STEP_CODE: Final = """\
for epoch in range(n_epochs):
    for x, y in batches:
        train_step(x, y)
    optimizer.learning_rate.assign(0.85 * optimizer.learning_rate)     # once in an epoch: not in the inner loop"""


def tell_decayed(lead: Decayed, scene: Scene) -> Finding:
    """The finding of a rate that is low for twice as long as it was not."""
    share, since = f"{LOW_SHARE:.0%}", say_step(lead.first_step)
    title = f"The learning rate has been below {share} of its highest since {since}"
    if lead.closed_step is not None:
        title = f"The learning rate was below {share} of its highest from {since} to {say_step(lead.last_step)}"
    loss = scene.testimony.known.read_loss().recent
    level = "" if loss is None else f" The loss was still {say_number(loss)} then."
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"It was {say_number(lead.highest)} at its highest, and {say_number(lead.rate)} at "
            f"{say_step(lead.last_step)}: {say_count(lead.first_step, 'step')} were taken with more than {share} of "
            f"it, and {lead.last_step - lead.first_step + 1:,} with less.{level}",
            highest=lead.highest,
            rate=lead.rate,
        ),
        hypotheses=_advise(lead, scene),
        subject="learning rate",
    )


def advise_compounded(detail: str, code: str | None = None) -> Hypothesis:
    """A rate that is multiplied, each time, by what counts from the first: where, or how far; their line, if known."""
    return Hypothesis(
        f"The learning rate is multiplied again by what should be its share of the first one{detail}",
        0.95,
        "Each change takes a larger part of it than the one before. A factor that already counts all epochs so far, "
        "such as `exp(-0.15 * epoch)`, is laid on the rate as it is now, which has had the earlier factors: they "
        "multiply.",
        "Compute the rate from the first one and the epoch. Or multiply the present one by a number that does not "
        "depend on the epoch.",
        code or COMPOUNDED_CODE,
    )


def _advise(lead: Decayed, scene: Scene) -> list[Hypothesis]:
    """Why it came down, as far as its changes tell; only a rate that no schedule sets is changed by the script."""
    usual = advise_gone_rate(scene, lead.first_step, None, lead.highest, lead.rate)
    if scene.setup.number("learning_rate") is None:
        return [usual]
    fall = f"from {say_number(lead.highest)} down to {say_number(lead.rate)}"
    if lead.is_compounded:
        return [advise_compounded(f": {fall}"), replace(usual, confidence=0.3)]
    if lead.every < EVERY_MAX:
        return [
            Hypothesis(
                f"The learning rate is cut at every step, not once in an epoch: {fall}",
                0.95,
                f"It fell from step to step, and was below {LOW_SHARE:.0%} of its highest after "
                f"{say_count(lead.first_step, 'step')}. A factor that is meant for epochs takes everything within "
                "the first.",
                "Move the change out of the loop over batches, to the end of an epoch.",
                EACH_STEP_CODE,
            ),
            replace(usual, confidence=0.3),
        ]
    return [usual]
