"""Words for a generator that helps its discriminator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradwatch_server.health.episode import Allied
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.advice_misfit import advise_overstep
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["tell_allied"]

CODE: Final[Mapping[str, str]] = {
    "lowered": """\
# The generator's samples should pass for real:
g_loss = bce(tf.ones_like(fake_scores), fake_scores)
# for a critic (no labels): g_loss = -tf.reduce_mean(fake_scores)""",
    "raised": """\
# Where the discriminator labels generated samples 1, the generator needs 0:
g_loss = bce(tf.zeros_like(fake_scores), fake_scores)
# for a critic (no labels): g_loss = tf.reduce_mean(fake_scores)""",
    "reversed": """\
# real = 1, generated = 0
d_loss = bce(tf.ones_like(real_scores), real_scores) + bce(tf.zeros_like(fake_scores), fake_scores)
g_loss = bce(tf.ones_like(fake_scores), fake_scores)
# for a critic (no labels):
# d_loss = tf.reduce_mean(fake_scores) - tf.reduce_mean(real_scores)
# g_loss = -tf.reduce_mean(fake_scores)""",
    "alike": """\
# Real and generated samples need different labels in the discriminator's loss:
d_loss = bce(tf.ones_like(real_scores), real_scores) + bce(tf.zeros_like(fake_scores), fake_scores)
# for a critic (no labels), opposite signs:
# d_loss = tf.reduce_mean(fake_scores) - tf.reduce_mean(real_scores)""",
}


def tell_allied(lead: Allied, scene: Scene) -> Finding:
    """The finding of one pair of players."""
    way = "lower" if lead.is_lowered else "raise"
    title = f"Generator and discriminator both {way} the discriminator's score for generated samples"
    if lead.asked == "alike":
        title = f"The discriminator is trained to {way} its score for real and generated samples alike"
    elif lead.asked == "shared":
        title = "The generator's step trains the discriminator too, to take generated samples for real"
    if lead.closed_step is not None:
        title = f"{title}, until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=lead.layer,
        evidence=scene.evidence(
            f"The discriminator's ({lead.layer}) average score for generated samples was {say_number(lead.mean)}. "
            f"{_say_asked(lead, way)}",
            output_mean=lead.mean,
            is_lowered=lead.is_lowered,
        ),
        hypotheses=advise_overstep(scene) if lead.asked == "shared" else _causes(lead),
        subject=lead.layer,
    )


def _say_asked(lead: Allied, way: str) -> str:
    if lead.asked == "alike":
        return (
            f"In nearly every batch its loss asks to {way} both scores, for all samples. It should raise one and lower "
            "the other."
        )
    if lead.asked == "shared":
        return (
            f"In nearly every batch its own loss asks to {way} it, and the generator's loss asks for the opposite. "
            "That is as it should be, but both steps change the discriminator's weights."
        )
    return (
        f"In nearly every batch, both losses ask to {way} it, for all samples. They should pull in opposite directions."
    )


def _causes(lead: Allied) -> list[Hypothesis]:
    """The cause. Ones are usually for real samples: a discriminator that has it otherwise is taken for wrong."""
    if lead.asked == "alike":
        return [
            Hypothesis(
                "The discriminator's loss uses the same label (or sign) for real and generated samples",
                0.9,
                "It never learns to tell them apart, so the generator learns nothing. Both losses fall but mean "
                "nothing.",
                "Label real samples 1 and generated ones 0 (for a critic, use opposite signs).",
                CODE["alike"],
            )
        ]
    if lead.asked == "reversed":
        return [
            Hypothesis(
                "The discriminator's labels (or loss signs) are swapped",
                0.8,
                "The discriminator learns to score generated samples above real ones, and the generator is rewarded "
                "for being spotted. Both losses fall.",
                "In the discriminator's loss, label real samples 1 and generated ones 0.",
                CODE["reversed"],
            )
        ]
    return [
        Hypothesis(
            "The generator's loss uses the discriminator's label (or sign) for generated samples",
            0.9,
            "The generator learns to be easy to spot as generated. Both losses fall.",
            "Give the generator's loss the label of real samples, or flip its sign.",
            CODE["lowered" if lead.is_lowered else "raised"],
        )
    ]
