"""Verdicts on operations that come near their singular point before anything breaks, and on clips that hide it."""

from __future__ import annotations

from gradwatch_server.health.cut import may_be_clipped
from gradwatch_server.health.episode import Cut, Steep
from gradwatch_server.health.finding import Finding
from gradwatch_server.health.verdict.advice_operation import advise_steep
from gradwatch_server.health.verdict.advice_stall import advise_cut
from gradwatch_server.health.verdict.operation import name_operation, say_noun, say_operation, say_place
from gradwatch_server.health.verdict.prophecy import say_about
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["tell_cut", "tell_steep"]


def tell_steep(lead: Steep, scene: Scene) -> Finding:
    """The finding of an operation whose slope grew far beyond its past."""
    operation = lead.operation
    if operation is None:
        raise ValueError("an episode of type Steep needs its operation, found none")
    noun = say_noun(operation)
    if lead.is_felt:
        title = f"The {noun}{say_place(operation)} multiplies the gradient by up to {say_number(lead.amplification)}"
    else:
        title = f"The {noun}{say_place(operation)} comes close to the point where it breaks"
    if scene.trend is not None and scene.trend.has_come is None:
        title += f", in about {say_about(scene.trend.at_step - scene.trend.known_step)} at this pace"
    if scene.has_recovered:
        title += f"; until {say_step(lead.last_step)}"
    summary = (
        f"Since {say_step(lead.first_step)} the input of {say_operation(operation)} has come as near as "
        f"{say_number(lead.margin)} to the point where it breaks ({say_number(lead.margin_before)} at first); its "
        f"slope is {say_number(lead.amplification)} there ({say_number(lead.amplification_before)} at first)"
    )
    if lead.is_felt:
        summary += f"; the global gradient norm rose from {say_number(lead.norm_before)} to {say_number(lead.norm)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=operation.layer,
        evidence=scene.evidence(
            summary + ".",
            margin=lead.margin,
            margin_before=lead.margin_before,
            amplification=lead.amplification,
            amplification_before=lead.amplification_before,
            norm=lead.norm,
            norm_before=lead.norm_before,
        ),
        hypotheses=advise_steep(lead, operation),
        operation=name_operation(operation),
        source=None if operation.source is None else dict(operation.source),
        subject=operation.name,
    )


def tell_cut(lead: Cut, scene: Scene) -> Finding:
    """The finding of zeros where a steep operation should give gradients."""
    operation, table = lead.operation, lead.table
    if operation is None or table is None:
        raise ValueError("an episode of type Cut needs its operation and tensor table, found none")
    noun, tensor = say_noun(operation), table.names[lead.column]
    verb = "is" if lead.is_open else "was"
    what = "cut to 0: a clip hides" if may_be_clipped(operation) else "exactly 0 at"
    title = f"{lead.share:.0%} of the gradient at {tensor} {verb} {what} the steep {noun}"
    title += say_place(operation).replace(f" in `{tensor}`", "")
    if not lead.is_open:
        title += f"; until {say_step(lead.last_step)}"
    where = "gradient with respect to the output" if table.kinds[lead.column] == "backprop" else "gradient"
    summary = (
        f"Since {say_step(lead.first_step)} {say_number(100 * lead.zeros)} % of the {where} of {tensor} has been "
        f"exactly 0 ({say_number(100 * lead.zeros_before)} % at first): {lead.share:.0%} of what should have one. "
        f"{say_operation(operation)} came as near as {say_number(lead.margin)} to the point where it breaks; its "
        f"slope is {say_number(lead.amplification)} there. What has no gradient learns nothing, and the loss does not "
        "show it."
    )
    return tell(
        lead,
        scene,
        title=title,
        layer=operation.layer or table.layers[lead.column] or None,
        tensor=tensor,
        evidence=scene.evidence(
            summary,
            share=lead.share,
            zeros=lead.zeros,
            zeros_before=lead.zeros_before,
            margin=lead.margin,
            amplification=lead.amplification,
            is_from_start=lead.is_first_row,
        ),
        hypotheses=advise_cut(lead, operation),
        operation=name_operation(operation),
        source=None if operation.source is None else dict(operation.source),
        subject=operation.name,
    )
