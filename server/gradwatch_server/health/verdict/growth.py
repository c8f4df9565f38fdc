"""Verdicts on what grew: gradients that explode, and updates that are too large."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from gradwatch_server.health.credibility import FALLEN_SHARE
from gradwatch_server.health.episode import Flat, Growth, NonFinite, Phase, Rate
from gradwatch_server.health.exploding import HARM_FACTOR
from gradwatch_server.health.finding import CRITICAL, WARNING, Finding, Hypothesis
from gradwatch_server.health.learning_rate import FIRST_ROWS, RATIO_LIMIT, USUAL_RATIO
from gradwatch_server.health.verdict.advice_growth import (
    advise_far_inputs,
    advise_first_rate,
    advise_growth,
    advise_rate,
    advise_scale,
)
from gradwatch_server.health.verdict.advice_operation import advise_operation, advise_steep
from gradwatch_server.health.verdict.advice_witness import advise_outlier, say_outlier
from gradwatch_server.health.verdict.breakage import doubt, say_outlying
from gradwatch_server.health.verdict.operation import (
    is_exact,
    name_operation,
    operation_evidence,
    say_place,
    say_trouble,
)
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step
from gradwatch_server.health.verdict.stall import say_flat

__all__ = ["tell_growth", "tell_rate"]

JUMP_ROWS: Final = 3
"""What grew over more rows than these grew by itself; it is not the doing of one operation."""


def tell_growth(lead: Growth, scene: Scene) -> Finding:
    """The finding of an incident that begins with growth of the gradient."""
    table = lead.table
    has_place = table is not None and lead.position >= 0
    layer = table.layer_of_gradient(lead.position) if table is not None and has_place else None
    tensor = table.name_gradient(lead.position) if table is not None and has_place else None
    factor = lead.largest / lead.usual if lead.usual > 0 else float("nan")
    title = f"Gradient norm grew {say_number(factor)}-fold from {say_step(lead.first_step)} on{_say_end(scene)}"
    is_harmful = lead.weight_factor >= HARM_FACTOR and scene.has_harm
    if is_harmful:
        title += f", and left the weights {say_number(lead.weight_factor)} times as large"
    summary = (
        f"The global gradient norm, usually about {say_number(lead.usual)}, was {say_number(lead.first)} at "
        f"{say_step(lead.first_step)} and reached {say_number(lead.largest)} at {say_step(lead.largest_step)}"
    )
    if layer is not None:
        summary += f"; it grew most in {tensor}"
    if is_harmful:
        summary += (
            f". The norm of the weights is {say_number(lead.weight_factor)} times its earlier value: what the model "
            "had learned is lost, even if the gradient is small again"
        )
    hypotheses, operation = advise_growth(lead, scene), scene.culprit
    if scene.steep is not None and scene.steep.operation is not None:
        operation = scene.steep.operation
        hypotheses += advise_steep(scene.steep, operation)
    elif operation is not None and scene.account is not None:
        named = advise_operation(scene.account, operation)
        if lead.n_rows <= JUMP_ROWS and is_exact(scene.account):
            # It came near its singular point, and then reached it: that made the gradient jump, and broke it.
            title += f": {say_trouble(scene.account, operation)}{say_place(operation)}"
            hypotheses = named + doubt(hypotheses)
        else:
            # It broke what had grown; whether it made it grow is not known.
            hypotheses += [replace(h, confidence=0.5 * h.confidence) for h in named]
    if scene.outlier is not None:
        summary += f". {say_outlier(scene, scene.outlier)}"
        title += say_outlying(scene.outlier) if operation is None else ""
        hypotheses += advise_outlier(scene)
    return tell(
        lead,
        scene,
        title=title,
        layer=layer,
        tensor=tensor,
        evidence=scene.evidence(
            summary + ".",
            usual_norm=lead.usual,
            first_norm=lead.first,
            largest_norm=lead.largest,
            largest_step=lead.largest_step,
            factor=factor,
            n_tensors=lead.n_tensors,
            weight_factor=None if math.isnan(lead.weight_factor) else lead.weight_factor,
            **(operation_evidence(scene.account) if scene.account is not None else {}),
        ),
        hypotheses=sorted(hypotheses, key=lambda hypothesis: -hypothesis.confidence),
        operation=None if operation is None else name_operation(operation),
        source=None if operation is None or operation.source is None else dict(operation.source),
    )


def tell_rate(lead: Rate, scene: Scene) -> Finding:
    """The finding of updates that are too large while the loss does not fall."""
    rate, flat = scene.learning_rate, [one for one in scene.incident.followers if isinstance(one, Flat)]
    title, summary = _say_first(lead, scene) if lead.n_first else _say_large(lead, scene)
    if rate is not None:
        summary += f"; the learning rate was {say_number(rate)}"
    told = "".join(f" {say_flat(one)}." for one in flat)
    return tell(
        lead,
        scene,
        severity=CRITICAL if any(one.is_whole and one.is_open for one in flat) else WARNING,
        title=title,
        evidence=scene.evidence(
            f"{summary}.{told}", ratio=lead.ratio, ratio_limit=RATIO_LIMIT, usual_ratio=USUAL_RATIO
        ),
        hypotheses=_advise_first(lead, scene) if lead.n_first else (advise_rate(scene, 0.8),),
    )


def _advise_first(lead: Rate, scene: Scene) -> list[Hypothesis]:
    """Causes of first updates that threw the weights away; with inputs that far from usual, any rate's would."""
    of_rate = advise_first_rate(scene, lead.ratio)
    far = advise_far_inputs(scene, 0.9)
    return [*far, of_rate] if far else [of_rate, *advise_scale(scene, 0.5)]


def _say_large(lead: Rate, scene: Scene) -> tuple[str, str]:
    """Title and summary of updates that have been too large for long."""
    first, loss = scene.testimony.onset.read_loss(), scene.testimony.known.read_loss()
    before = first.value if first.before is None else first.before
    has_fallen = before is not None and loss.recent is not None and loss.recent < FALLEN_SHARE * before
    falls = "hardly falls" if has_fallen else "does not fall"
    title = f"Updates are {lead.ratio:.0%} of the weights and the loss {falls}: the learning rate looks too high"
    if scene.incident.has_nonfinite:
        title = f"Updates were {lead.ratio:.0%} of the weights{_say_end(scene)}: the learning rate is too high"
    summary = (
        f"From {say_step(lead.first_step)} on the median update was {say_number(lead.ratio)} of the weights it "
        f"changed ({USUAL_RATIO:g} is usual)"
    )
    if before is not None and loss.recent is not None:
        known = say_step(lead.known_step)
        summary += (
            f". The loss was {say_number(before)} before, and {say_number(loss.recent)} (median of 20) by {known}"
        )
    return title, summary


def _say_first(lead: Rate, scene: Scene) -> tuple[str, str]:
    """Title and summary of first updates that threw the weights away."""
    before, loss = scene.testimony.onset.read_loss().value, scene.testimony.known.read_loss()
    end = _say_end(scene) if scene.incident.has_nonfinite else ""
    seen = f"{FIRST_ROWS} of the first {lead.n_first:,}" if lead.n_first > FIRST_ROWS else f"The first {FIRST_ROWS}"
    is_above = (before or 0.0) > lead.guess and (loss.recent or 0.0) > FALLEN_SHARE * lead.guess
    since = "has hardly come below guessing" if is_above else "has hardly come down since"
    title = f"The first updates replaced the weights{end}, and the loss {since}: the learning rate looks too high"
    summary = (
        f"{seen} updates were {100 * lead.ratio:.0f} % of the weights they changed, on average ({100 * USUAL_RATIO:g} "
        f"% is usual). The loss was {say_number(before or 0.0)} before them, and {say_number(loss.recent or 0.0)} "
        f"(median of 20) by {say_step(lead.known_step)}"
    )
    if is_above:
        summary += f"; guessing gives {say_number(lead.guess)}"
    return title, summary


def _say_end(scene: Scene) -> str:
    """What the growth ran into."""
    names = {
        Phase.INPUT: "the input",
        Phase.ACTIVATION: "a layer's output",
        Phase.BACKPROP: "the gradient",
        Phase.LOSS: "the loss",
        Phase.GRADIENT: "the gradient",
        Phase.UPDATE: "the update",
        Phase.WEIGHT: "the weights",
    }
    broken = [member for member in scene.incident.followers if isinstance(member, NonFinite)]
    if not broken:
        return ", then fell back" if scene.has_recovered else ""
    first = broken[0]
    is_nan = math.isnan(first.value) if first.phase is Phase.LOSS else first.counts[:, 0].sum() > 0
    return f" until {names[first.phase]} became {'NaN' if is_nan else 'infinite'} at {say_step(first.first_step)}"
