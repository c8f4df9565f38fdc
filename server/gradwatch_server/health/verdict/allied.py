"""Words for a generator that helps its discriminator."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Allied
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["tell_allied"]

CODE: Final = """\
# The generator is to be taken for real, where the discriminator's own step says that it is not:
g_loss = bce(tf.ones_like(fake_scores), fake_scores)
# without labels, as a critic's (whose own loss is mean(fake) - mean(real)): the sign turned round
# g_loss = -tf.reduce_mean(fake_scores)"""


def tell_allied(lead: Allied, scene: Scene) -> Finding:
    """The finding of one pair of players."""
    way = "lower" if lead.is_lowered else "raise"
    title = f"The generator helps its discriminator: both {way} what {lead.layer} gives for what is generated"
    if lead.closed_step is not None:
        title = f"The generator helped its discriminator until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=lead.layer,
        evidence=scene.evidence(
            f"In its own step {lead.layer} is called for what is real and for what is generated, and gave "
            f"{say_number(lead.mean)} on the average for the latter, as in the generator's step. There and here the "
            f"gradient of nearly every batch is to {way} it, in all samples. In a game the one would {way} it and the "
            "other not.",
            output_mean=lead.mean,
            is_lowered=lead.is_lowered,
        ),
        hypotheses=[
            Hypothesis(
                "The generator's loss has the discriminator's labels, or its sign",
                0.9,
                "It is trained to be recognised as generated. Both losses fall, and what is generated goes where it "
                "is told apart most easily.",
                "Give the generator's step the labels of what is real, or turn the sign of its loss round.",
                CODE,
            )
        ],
        subject=lead.layer,
    )
