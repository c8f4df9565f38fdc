"""Words for a generator that helps its discriminator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradwatch_server.health.episode import Allied
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["tell_allied"]

CODE: Final[Mapping[str, str]] = {
    "apart": """\
# The generator is to be taken for real, where the discriminator's own step says that it is not:
g_loss = bce(tf.ones_like(fake_scores), fake_scores)
# without labels, as a critic's (whose own loss is mean(fake) - mean(real)): the sign turned round
# g_loss = -tf.reduce_mean(fake_scores)""",
    "reversed": """\
# Ones for what is real, zeros for what is generated:
d_loss = bce(tf.ones_like(real_scores), real_scores) + bce(tf.zeros_like(fake_scores), fake_scores)
g_loss = bce(tf.ones_like(fake_scores), fake_scores)
# without labels, as a critic's:
# d_loss = tf.reduce_mean(fake_scores) - tf.reduce_mean(real_scores)
# g_loss = -tf.reduce_mean(fake_scores)""",
    "alike": """\
# What is real and what is generated need other labels in the discriminator's step:
d_loss = bce(tf.ones_like(real_scores), real_scores) + bce(tf.zeros_like(fake_scores), fake_scores)
# without labels, as a critic's, other signs:
# d_loss = tf.reduce_mean(fake_scores) - tf.reduce_mean(real_scores)""",
}


def tell_allied(lead: Allied, scene: Scene) -> Finding:
    """The finding of one pair of players."""
    way = "lower" if lead.is_lowered else "raise"
    title = f"The generator helps its discriminator: both {way} what {lead.layer} gives for what is generated"
    if lead.asked == "alike":
        title = f"The discriminator is trained to {way} what {lead.layer} gives for real and generated samples alike"
    if lead.closed_step is not None:
        title = f"{title}, until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=lead.layer,
        evidence=scene.evidence(
            f"In its own step {lead.layer} is called for what is real and for what is generated, and gave "
            f"{say_number(lead.mean)} on the average for the latter, as in the generator's step. "
            f"{_say_asked(lead, way)}",
            output_mean=lead.mean,
            is_lowered=lead.is_lowered,
        ),
        hypotheses=_causes(lead),
        subject=lead.layer,
    )


def _say_asked(lead: Allied, way: str) -> str:
    if lead.asked == "alike":
        return (
            f"The gradient of nearly every batch is to {way} both, in all samples. To tell them apart it would {way} "
            "the one and not the other."
        )
    return (
        f"There and here the gradient of nearly every batch is to {way} it, in all samples. In a game the one would "
        f"{way} it and the other not."
    )


def _causes(lead: Allied) -> list[Hypothesis]:
    if lead.asked == "alike":
        return [
            Hypothesis(
                "The discriminator's loss has the same label, or the same sign, for what is real and what is generated",
                0.9,
                "It is not trained to tell them apart, so the generator learns nothing from it: both losses fall, and "
                "neither means anything.",
                "Give both parts of the discriminator's loss different labels, or different signs.",
                CODE["alike"],
            )
        ]
    of_generator = Hypothesis(
        "The generator's loss has the discriminator's labels, or its sign",
        0.9 if lead.asked == "apart" else 0.5,
        "It is trained to be recognised as generated. Both losses fall, and what is generated goes where it "
        "is told apart most easily.",
        "Give the generator's step the labels of what is real, or turn the sign of its loss round.",
        CODE["apart"],
    )
    if lead.asked == "apart":
        return [of_generator]
    return [
        Hypothesis(
            "The discriminator's labels, or the signs in its loss, are swapped",
            0.8,
            "It is trained to give less for what is real than for what is generated, and the generator to get more: "
            "it is rewarded for being recognised. Both losses fall.",
            "Give the discriminator ones for what is real and zeros for what is generated; or, if it is meant to be "
            "the other way round, the generator the label of what is real.",
            CODE["reversed"],
        ),
        of_generator,
    ]
