"""Findings of NaN and Inf: what all of them hold, and how their numbers are said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.episode import NonFinite, Phase
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.outlier import Outlier
from gradwatch_server.health.verdict.advice_nonfinite import SUPERSEDED
from gradwatch_server.health.verdict.advice_witness import advise_outlier, say_outlier
from gradwatch_server.health.verdict.operation import describe_account, name_operation, operation_evidence
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step

__all__ = ["doubt", "make_finding", "say_counts", "say_outlying", "say_value", "say_word"]

CONFIDENCE_MIN: Final = 0.05
"""Below it a cause behind the known one is not worth a reader's time."""


def make_finding(
    lead: NonFinite,
    scene: Scene,
    kind: str,
    title: str,
    summary: str,
    *,
    hypotheses: Sequence[Hypothesis],
    layer: str | None = None,
    tensor: str | None = None,
    subject: str | None = None,
    culprit: Operation | None = None,
    **numbers: object,
) -> Finding:
    """A finding with the evidence that every NaN or Inf has."""
    if scene.has_recovered:
        title += f"; it recovered after {say_count(lead.n_rows, 'step')}"
    n_nan, n_pos_inf, n_neg_inf = lead.counts.sum(axis=0).tolist()
    counts = {} if lead.phase is Phase.LOSS else {"n_nan": n_nan, "n_pos_inf": n_pos_inf, "n_neg_inf": n_neg_inf}
    if scene.account is not None:
        numbers |= operation_evidence(scene.account)
        summary += f" {describe_account(scene.account)}"
    lost = scene.lost_weights
    if lost is not None:
        numbers["weights_lost_step"] = lost.first_step
        summary += f" {_say_lost(lost)}" if lead.phase is not Phase.WEIGHT else ""
    if scene.outlier is not None and lead.phase is not Phase.INPUT:
        summary += f" {say_outlier(scene, scene.outlier)}."
        title += say_outlying(scene.outlier) if culprit is None else ""
        hypotheses = [*advise_outlier(scene), *hypotheses]
    return Finding(
        kind=kind,
        severity=scene.severity,
        first_step=lead.first_step,
        last_step=scene.incident.last_step,
        title=title,
        layer=layer,
        tensor=tensor,
        evidence=scene.evidence(summary, **counts, **numbers),
        hypotheses=tuple(sorted(hypotheses, key=lambda hypothesis: -hypothesis.confidence)),
        operation=None if culprit is None else name_operation(culprit),
        source=None if culprit is None or culprit.source is None else dict(culprit.source),
        subject=subject,
    )


def doubt(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """What may stand behind an operation that was seen to break: data and learning rate, not other operations."""
    kept = [hypothesis for hypothesis in hypotheses if hypothesis.cause not in SUPERSEDED]
    weighed = [replace(hypothesis, confidence=0.2 * hypothesis.confidence) for hypothesis in kept]
    return [hypothesis for hypothesis in weighed if hypothesis.confidence >= CONFIDENCE_MIN]


def _say_lost(weights: NonFinite) -> str:
    """From which step on what was saved is worth nothing."""
    step = say_step(weights.first_step)
    text = f"The weights have been broken since {step}, and so is every checkpoint saved from then on"
    if weights.finite_step == weights.first_step - 1:
        return f"{text}; those of {say_step(weights.finite_step)} are whole."
    return f"{text}; they were last seen whole at {say_step(weights.finite_step)}."


def say_outlying(outlier: Outlier) -> str:
    """What a title says of an input out of all proportion."""
    return f": {outlier.tensor} reached {say_number(outlier.value)}, usually at most {say_number(outlier.before)}"


def say_value(value: float) -> str:
    """``NaN``, ``infinite`` or ``minus infinity``."""
    return "NaN" if math.isnan(value) else "infinite" if value > 0 else "minus infinity"


def say_word(counts: npt.NDArray[np.float64]) -> str:
    """``NaN`` or ``infinite``: the worst of some tensors' counts ``[n, 3]``."""
    return "NaN" if counts[:, 0].sum() > 0 else "infinite"


def say_counts(counts: npt.NDArray[np.float64]) -> str:
    """``3 NaN, 1 -Inf``: one tensor's counts ``[3]``."""
    parts = [f"{int(n):,} {name}" for n, name in zip(counts.tolist(), ("NaN", "+Inf", "-Inf"), strict=True) if n > 0]
    return ", ".join(parts)
