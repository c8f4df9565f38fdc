"""Words for class weights the wrong way round."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Contrary
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["tell_contrary"]

CODE: Final = """\
counts = np.bincount(np.ravel(y_train).astype(int))
class_weight = {label: len(y_train) / (len(counts) * n) for label, n in enumerate(counts)}
model.fit(x_train, y_train, class_weight=class_weight)                    # and what else you give it"""


def tell_contrary(lead: Contrary, scene: Scene) -> Finding:
    """The finding of weights that favour the common label."""
    weight, other_weight = say_number(lead.weight), say_number(lead.other_weight)
    return tell(
        lead,
        scene,
        title=f"The class weights are the wrong way round: {weight} for label {lead.label}, {lead.share:.0%} of all, "
        f"and {other_weight} for the other",
        evidence=scene.evidence(
            f"In every batch looked at as many samples have the weight {weight} as have the label {lead.label}, and "
            f"all others have {other_weight}. A sample with the rare label counts "
            f"{say_number(lead.weight / lead.other_weight)} times less than a common one.",
            label=lead.label,
            share=lead.share,
            weight=lead.weight,
            other_weight=lead.other_weight,
        ),
        hypotheses=[
            Hypothesis(
                "The class weights grow with how often a label occurs",
                0.85,
                "They are meant to let the rare label count for more. These make the common one count for still more: "
                f"the loss hardly changes where the model never says {lead.label}.",
                "Divide by a label's count instead of multiplying by it. Where the labels themselves are doubtful and "
                "these weights are meant, leave them.",
                CODE,
                (
                    Change("fit", before=CODE.rpartition("\n")[0]),
                    Change("fit", given=(("class_weight", "class_weight"),)),
                ),
            )
        ],
        subject="class weights",
    )
