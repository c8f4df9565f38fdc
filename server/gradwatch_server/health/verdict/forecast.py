"""Verdicts on trends that reach the end of numbers soon: the early warning, and what came of it."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Trend
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.operation_table import ARCS, EXPONENTIALS
from gradwatch_server.health.verdict.advice_arithmetic import HALF_CODE, LARGE_CODE
from gradwatch_server.health.verdict.advice_growth import CLIP_CODE, advise_rate
from gradwatch_server.health.verdict.advice_operation import advise_near
from gradwatch_server.health.verdict.loss_scale import FLOAT32_CODE
from gradwatch_server.health.verdict.operation import name_operation, say_noun, say_place
from gradwatch_server.health.verdict.prophecy import (
    say_about,
    say_forecast,
    say_trend,
    subject_of,
)
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_step

__all__ = ["tell_forecast"]


def tell_forecast(lead: Trend, scene: Scene) -> Finding:
    """The finding of a trend, before anything is NaN; later with its outcome."""
    table, operation = lead.table, lead.operation
    has_tensor = table is not None and lead.column >= 0
    layer = operation.layer if operation is not None else None
    if has_tensor and table is not None:
        layer = table.layers[lead.column] or None
    return tell(
        lead,
        scene,
        title=_say_title(lead),
        layer=layer,
        tensor=table.names[lead.column] if has_tensor and table is not None else None,
        evidence=scene.evidence(_say_summary(lead), n_tensors=lead.n_tensors),
        hypotheses=sorted(_advise(lead, scene), key=lambda hypothesis: -hypothesis.confidence),
        operation=None if operation is None else name_operation(operation),
        source=None if operation is None or operation.source is None else dict(operation.source),
        subject=subject_of(lead),
    )


def _say_title(lead: Trend) -> str:
    ahead = say_about(lead.at_step - lead.known_step)
    subject, future, infinitive = _say_event(lead)
    if lead.has_come is None:
        return f"{subject} {future} in about {ahead} (around {say_step(lead.at_step)}) at this pace"
    forecast = f"{subject} was forecast at {say_step(lead.known_step)} to {infinitive}"
    if lead.has_come:
        return f"{forecast}; it came at {say_step(lead.outcome_step or 0)}"
    return f"{forecast} by {say_step(lead.at_step_high)}; it did not"


def _say_event(lead: Trend) -> tuple[str, str, str]:
    """Subject, what it will do, and the same as an infinitive."""
    operation = lead.operation
    if operation is not None:
        subject = f"The {say_noun(operation)}{say_place(operation)}"
        if operation.type in EXPONENTIALS:
            return subject, f"overflows {lead.dtype}", f"overflow {lead.dtype}"
        end = "±1" if operation.type in ARCS else "0"
        return f"The input of the {say_noun(operation)}{say_place(operation)}", f"reaches {end}", f"reach {end}"
    if lead.quantity == "loss_scale":
        return "The loss scale", "falls to 1, its floor,", "fall to 1, its floor,"
    name = "" if lead.table is None or lead.column < 0 else lead.table.names[lead.column]
    subject = {
        "gradient": f"The gradient of {name}" if name else "The gradient",
        "loss": "The loss",
        "activation": f"The output of {name}",
        "backprop": f"The gradient with respect to the output of {name}",
        "weight": f"The weight {name}",
    }[lead.quantity]
    return subject, f"overflows {lead.dtype}", f"overflow {lead.dtype}"


def _say_summary(lead: Trend) -> str:
    said = say_trend(lead)
    text = f"{said[0].upper()}{said[1:]}, steadily and without levelling off ({say_step(lead.first_step)} to "
    return f"{text}{say_step(lead.known_step)}). {say_forecast(lead)}"


HALF_CAUSE: Final = "float16 is too narrow for these numbers"


def _advise(lead: Trend, scene: Scene) -> list[Hypothesis]:
    said = say_trend(lead)
    said = said[0].upper() + said[1:]
    if lead.operation is not None:
        end = "overflows" if lead.operation.type in EXPONENTIALS else "is Inf or NaN, in value or in slope"
        return advise_near(lead.operation, f"{said}, and no constant is seen to hold it. At the end of it, it {end}.")
    if lead.quantity == "loss_scale":
        return [_skips(said)]
    found = [] if lead.dtype != "float16" else [_narrow(said, is_forward=lead.quantity == "activation")]
    return [*found, advise_rate(scene, 0.4 if found else 0.7), _unlimited(said)]


def _skips(said: str) -> Hypothesis:
    return Hypothesis(
        "Gradients overflow again and again, whatever the scale",
        0.6,
        f"{said}: each halving is a step that overflowed and was skipped. A scale that does not come to rest means "
        "that the gradient itself grows or breaks.",
        "Look at what grows, compute it in float32 or the model in bfloat16, and clip the gradient.",
        FLOAT32_CODE,
    )


def _narrow(said: str, *, is_forward: bool) -> Hypothesis:
    return Hypothesis(
        HALF_CAUSE,
        0.8,
        f"{said}. float16 ends at 65,504, where float32 and bfloat16 reach 3e38.",
        "Compute it in float32, or the model in bfloat16"
        + ("; loss scaling does not help, since this is the forward pass." if is_forward else "."),
        HALF_CODE,
    )


def _unlimited(said: str) -> Hypothesis:
    return Hypothesis(
        "Nothing limits the growth",
        0.5,
        f"{said}, each step larger than the one before. Whatever drives it, normalisation and clipping break the "
        "circle.",
        "Clip the global norm, normalise between layers, and scale the inputs.",
        f"{CLIP_CODE}\n\n{LARGE_CODE}",
    )
