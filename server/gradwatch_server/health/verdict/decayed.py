"""Words for a learning rate that has come down to next to nothing long before the end."""

from __future__ import annotations

from gradwatch_server.health.decayed import LOW_SHARE
from gradwatch_server.health.episode import Decayed
from gradwatch_server.health.finding import Finding
from gradwatch_server.health.verdict.advice_stall import advise_gone_rate
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step

__all__ = ["tell_decayed"]


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
            f"{say_step(lead.known_step)}, after {say_count(lead.first_step, 'step')} with more and "
            f"{lead.known_step - lead.first_step + 1:,} with less than {share} of it.{level}",
            highest=lead.highest,
            rate=lead.rate,
        ),
        hypotheses=[advise_gone_rate(scene, lead.first_step, None, lead.highest, lead.rate)],
        subject="learning rate",
    )
