"""Words for an optimizer that is made anew over and over."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Remade
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step

__all__ = ["tell_remade"]

CODE: Final = """\
# Once, before the loop and no more in it, with a schedule for the steps of all of it:
model.compile(optimizer=optimizer, loss=loss)
for x, y in chunks:
    model.fit(x, y)                                      # goes on where the last one ended"""


def tell_remade(lead: Remade, scene: Scene) -> Finding:
    """The finding of optimizers that follow one another."""
    kind = scene.facts.setups[lead.stream].optimizer_class if lead.stream in scene.facts.setups else ""
    steps = say_count(lead.n_steps, "step")
    rate = (
        f" Its learning rate began at {say_number(lead.first_rate)} each time, and came to "
        f"{say_number(lead.last_rate)} within the first of them."
        if lead.has_schedule
        else ""
    )
    return tell(
        lead,
        scene,
        title=f"The optimizer was made anew {say_count(lead.n_rows - 1, 'time')}: each begins again after {steps}",
        evidence=scene.evidence(
            f"So far {say_count(lead.n_rows, 'optimizer')}{f' of the class {kind}' if kind else ''} have trained the "
            f"same variables, one after another, each for about {steps}; the second began at "
            f"{say_step(lead.first_step)}.{rate}",
            n_optimizers=lead.n_rows,
            n_steps=lead.n_steps,
        ),
        hypotheses=[
            Hypothesis(
                "A new optimizer in the loop: `compile`, or the class itself, is called for every chunk of data",
                0.85,
                "What an optimizer knows is lost each time: its averages, its momentum, and the count of steps that a "
                "schedule goes by. "
                + (
                    "A warm-up then never ends, and a decay never comes to its low rates."
                    if lead.has_schedule
                    else "Adam's first steps go by the sign of single gradients."
                ),
                "Make the optimizer once, before the loop, with a schedule for all of its steps.",
                CODE,
                (
                    Change(
                        "compile", note="move this out of the loop, and out of what the loop calls, to stand before it"
                    ),
                ),
            )
        ],
        subject="optimizers",
    )
