"""Verdicts on NaN and Inf: in the loss, a gradient, an update or a weight."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.book import LEARNING_RATE
from gradwatch_server.health.entry import Entry, locate
from gradwatch_server.health.episode import NonFinite, Phase
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.verdict.advice_growth import advise_unscaled
from gradwatch_server.health.verdict.advice_nonfinite import (
    advise_beyond,
    advise_broken_rate,
    advise_gradient,
    advise_loss,
    advise_state,
    advise_weight,
)
from gradwatch_server.health.verdict.advice_operation import advise_masked_too_late, advise_operation
from gradwatch_server.health.verdict.breakage import doubt, make_finding, say_counts, say_value, say_word
from gradwatch_server.health.verdict.loss_scale import tell_loss_scale
from gradwatch_server.health.verdict.operation import is_arithmetic, is_fed_infinity, say_place, say_trouble
from gradwatch_server.health.verdict.scene import NAMES_LIMIT, Scene
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step
from gradwatch_server.health.verdict.witness import say_backprop, tell_activation, tell_input

__all__ = ["tell_nonfinite"]


def tell_nonfinite(lead: NonFinite, scene: Scene) -> Finding:
    """The finding of an incident that begins with a NaN or an Inf."""
    finding = _tell(lead, scene)
    step = scene.testimony.onset.broken_before(LEARNING_RATE)
    # A rate that is not finite breaks every weight at once, which is seen in the next step where weights are not read.
    if step is None or not lead.finite_step <= step < lead.first_step or lead.phase is Phase.INPUT:
        return finding
    title = finding.title.partition(": ")[0].removesuffix(" while the weights were still finite")
    return replace(
        finding,
        title=f"{title}: the learning rate was not finite at {say_step(step)}",
        hypotheses=(advise_broken_rate(math.nan),),
        operation=None,
        source=None,
    )


def _tell(lead: NonFinite, scene: Scene) -> Finding:
    if lead.phase is Phase.LOSS or lead.table is None:
        return _tell_loss(lead, scene)
    if lead.phase is Phase.INPUT:
        return tell_input(lead, lead.table, scene)
    if lead.phase is Phase.ACTIVATION:
        return tell_activation(lead, lead.table, scene)
    if lead.phase is Phase.GRADIENT:
        harm = [member for phase in (Phase.LOSS, Phase.UPDATE, Phase.WEIGHT) for member in scene.broken(phase)]
        if lead.is_scaled and not lead.is_forward and not harm:
            return tell_loss_scale(lead, lead.table, scene)
        return _tell_gradient(lead, lead.table, scene)
    return _tell_weight(lead, lead.table, scene)


def _tell_loss(lead: NonFinite, scene: Scene) -> Finding:
    name = "Loss" if lead.name == "loss" else lead.name
    word = say_value(lead.value)
    reached = any(isinstance(m, NonFinite) and m.phase is not Phase.LOSS for m in scene.incident.followers)
    before = scene.loss.before
    if lead.is_first_row:
        title = f"{name} was {word} from the first step on"
        summary = f"The first value of {lead.name}, at {say_step(lead.first_step)}, was already {word}"
    else:
        weights = scene.weights_finite_step
        is_certain = weights is not None and weights >= lead.first_step - 1
        title = f"{name} became {word} at {say_step(lead.first_step)}"
        title += " while the weights were still finite" if is_certain else ""
        summary = (
            f"{name} was {say_number(before) if before is not None else 'finite'} until {say_step(lead.finite_step)} "
        )
        summary += f"and {word} at {say_step(lead.first_step)}"
        if weights is not None:
            summary += f"; the weights were last read at {say_step(weights)} and were finite"
    is_beside = not reached and scene.last_row > lead.first_step
    if is_beside:
        summary += "; no gradient has been NaN or infinite since"
    guesses = advise_loss(lead, scene, is_beside=is_beside)
    beyond = scene.start.beyond if lead.is_first_row and math.isinf(lead.value) else None
    grown = [] if beyond is None else advise_beyond(beyond)
    if beyond is not None:
        title += f": {beyond.layer} gave {say_number(beyond.largest)}"
    hypotheses = [*grown, *(doubt(guesses) if grown else guesses)]
    # What breaks in the backward pass only is no cause of a loss.
    culprit = scene.culprit if scene.culprit is not None and not scene.culprit.is_gradient else None
    if culprit is not None and scene.account is not None:
        title = f"{title.removesuffix(' while the weights were still finite')}: "
        title += f"{say_trouble(scene.account, culprit)}{say_place(culprit)}"
        named = _advise_overflow(lead, scene) + advise_operation(scene.account, culprit)
        # Plain arithmetic is not to blame for what it was given.
        hypotheses = [*grown, *named, *doubt(guesses)] if is_arithmetic(culprit) else [*named, *doubt(hypotheses)]
    return make_finding(
        lead,
        scene,
        "nonfinite_loss",
        title,
        summary + ".",
        hypotheses=hypotheses,
        culprit=culprit,
        layer=culprit.layer if culprit is not None else beyond.layer if beyond is not None else None,
        subject=lead.name,
        reaches_gradients=reached,
    )


def _advise_overflow(lead: NonFinite, scene: Scene) -> list[Hypothesis]:
    """What made numbers too large for plain arithmetic within a few steps."""
    account, culprit = scene.account, scene.culprit
    if account is None or culprit is None or not is_arithmetic(culprit) or is_fed_infinity(account):
        return []
    return [] if lead.is_first_row or account.dtype == "float16" else advise_unscaled(lead.first_step, scene)


def _tell_gradient(lead: NonFinite, table: TensorTable, scene: Scene) -> Finding:
    entry = locate(lead, table)
    word = say_word(lead.counts)
    column = table.gradient[entry.position]
    layer, tensor = table.layer_of_gradient(entry.position), table.names[column]
    subject, where = "Gradient", f" in {layer}"
    if entry.is_everything and entry.n_nonfinite > 1:
        subject, where = "Every gradient", ""
    begins = f"became {word} at {say_step(lead.first_step)}"
    if lead.is_first_row:
        begins = f"was {word} at the very first step ({say_step(lead.first_step)})"
    title = f"{subject} {begins}{where}" + (" while the loss was still finite" if scene.is_loss_finite else "")
    summary = (
        f"At {say_step(lead.first_step)} the gradient of {tensor} held {say_counts(lead.counts[entry.position])} "
        f"among {say_count(table.n_elements[column], 'element')}"
    )
    if scene.is_loss_finite:
        summary += f", and the loss was {say_number(scene.loss.value or 0.0)}"
    elif scene.is_loss_finite is None:
        summary += "; the loss of this step is not recorded"
    if lead.is_forward:
        summary += (
            "; it began in the forward pass, so a lower loss scale does not mend it, but has hidden it: "
            f"{say_count(lead.n_skipped, 'step')} skipped"
        )
    kind, hypotheses, culprit = "nonfinite_gradient", advise_gradient(lead, entry, scene), scene.culprit
    if culprit is not None and scene.account is not None:
        title = f"{subject} {begins}: {say_trouble(scene.account, culprit)}{say_place(culprit)}"
        named = _advise_overflow(lead, scene) + advise_operation(scene.account, culprit)
        if culprit.is_gradient and not is_arithmetic(culprit):
            kind = "singular_gradient"
        elif not culprit.is_gradient and scene.is_loss_finite:
            named.insert(0, advise_masked_too_late(culprit))
        hypotheses = named + doubt(hypotheses)
        layer = culprit.layer or layer
    return make_finding(
        lead,
        scene,
        kind,
        title,
        summary + ".",
        hypotheses=hypotheses,
        culprit=culprit,
        layer=layer,
        tensor=tensor,
        entered=_say_entry(entry, table),
        side="forward" if entry.is_forward else "backward",
        share=entry.share,
        n_tensors=entry.n_nonfinite,
        n_tensors_finite=entry.n_finite,
        backprop=say_backprop(lead, scene),
    )


def _tell_weight(lead: NonFinite, table: TensorTable, scene: Scene) -> Finding:
    given = _given(lead, scene)
    if given is not None:
        lead = given
    columns = table.weight if lead.phase is Phase.WEIGHT else table.update
    bad = np.flatnonzero(lead.counts.sum(axis=1) > 0)
    # A part of a tensor tells more than a whole one; among equals, the one nearest to the input.
    shares = lead.counts[bad].sum(axis=1) / np.maximum(table.n_elements[columns[bad]], 1)
    place = int(bad[int(np.argmin(shares))])
    column = columns[place]
    layer, tensor = table.layer_of(column), table.names[column]
    word = say_word(lead.counts)
    is_state = bool(np.isin(columns[bad], table.states).all())
    if is_state:
        return _tell_state(lead, table, scene, columns[bad])
    noun = "Weights" if lead.phase is Phase.WEIGHT else "The update of the weights"
    noun = (
        "Every weight tensor" if lead.phase is Phase.WEIGHT and len(bad) == len(columns) > 1 else f"{noun} of {layer}"
    )
    title = f"{noun} became {word} at {say_step(lead.first_step)}"
    title += " although the gradients were finite" if len(table.gradient) else ""
    if given is not None:
        title = f"{noun} were {word} at the first step already ({say_step(lead.first_step)})"
    summary = (
        f"After the update of {say_step(lead.first_step)} {tensor} held {say_counts(lead.counts[place])} among "
        f"{say_count(table.n_elements[column], 'element')}"
    )
    if len(table.gradient):
        summary += "; every gradient up to this step was finite"
    if 0 <= lead.finite_step < lead.first_step - 1:
        summary += f" (weights are not read at every step: they were last finite at {say_step(lead.finite_step)})"
    return make_finding(
        lead,
        scene,
        "nonfinite_weight",
        title,
        summary + ".",
        hypotheses=advise_weight(lead, scene, is_given=given is not None, is_partial=bool(shares.min() < 1)),
        layer=layer,
        tensor=tensor,
        share=float(shares.min()),
        n_tensors=len(bad),
        n_tensors_finite=len(columns) - len(bad),
    )


def _tell_state(lead: NonFinite, table: TensorTable, scene: Scene, broken: npt.NDArray[np.int64]) -> Finding:
    """The finding of running statistics that broke while everything that is trained stayed whole."""
    column = int(broken[0])
    layer, tensor, word = table.layer_of(column), table.names[column], say_word(lead.counts)
    n_others = len({table.layers[c] for c in broken}) - 1
    place = int(np.flatnonzero(table.weight == column)[0])
    summary = (
        f"After {say_step(lead.first_step)} {tensor} held {say_counts(lead.counts[place])} among "
        f"{say_count(table.n_elements[column], 'element')}, but all trained weights were finite. Training uses each "
        "batch's own statistics, so its loss does not show this. Evaluation, prediction and the saved model use the "
        "running ones"
    )
    return make_finding(
        lead,
        scene,
        "nonfinite_weight",
        f"Running statistics of {layer}{f' and {n_others} more' if n_others else ''} became {word} at "
        f"{say_step(lead.first_step)}: evaluation is lost",
        summary + ".",
        hypotheses=advise_state(scene),
        layer=layer,
        tensor=tensor,
        is_state=True,
        tensors=[table.names[c] for c in broken[:NAMES_LIMIT]],
        n_tensors=len(broken),
    )


def _given(lead: NonFinite, scene: Scene) -> NonFinite | None:
    """The weights, where they and their update are broken at the first row: NaN less NaN is no doing of an update.

    Not where they are known to have been whole before. In float16 an optimizer can break a weight in its first step
    (its epsilon is 0 there), and so can a broken rate.
    """
    if scene.setup.broken is not None and not scene.setup.broken:
        return None
    weights = next((e for e in scene.broken(Phase.WEIGHT) if e.first_step == lead.first_step), None)
    if weights is None or not (lead.is_first_row and weights.is_first_row) or weights.table is not lead.table:
        return None
    rate = scene.learning_rate
    is_optimizer = (lead.table is not None and lead.table.is_half) or (rate is not None and not math.isfinite(rate))
    return None if is_optimizer else weights


def _say_entry(entry: Entry, table: TensorTable) -> str:
    """Where the NaN entered, without more certainty than the gradients of one step allow."""
    name = table.name_gradient(entry.position)
    if entry.is_forward:
        return (
            f"through the forward pass: the kernel gradient of {table.layer_of_gradient(entry.position)} is broken "
            "and its bias gradient is not, so the signal from the loss was finite and the layer's input was not"
        )
    if entry.bound is not None:
        text = f"between {name} and {table.name_gradient(entry.bound)}, whose gradient was still finite"
    else:
        text = f"between {name} and the loss: no variable nearer to the loss has a finite gradient"
    shallower = entry.n_finite > 0 and entry.n_nonfinite <= entry.position
    return text + ("; some layers nearer to the input stayed finite, so it did not spread to all" if shallower else "")
