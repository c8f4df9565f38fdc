"""What a linear fit of the same inputs says of a model that learned nothing: whether they tell what is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from gradwatch_server.health.episode import Collapsed, Episode, Plateau, Unrelated, Unskilled
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.advice_misfit import LABELS, advise_labels
from gradwatch_server.health.verdict.scene import Facts
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["advise_model", "with_linear_fit"]

THERE: Final = 0.3
"""A correlation of a linear fit with targets that it was not fitted to: what is asked for can be had of the inputs."""
NOTHING: Final = 0.05
"""And one that chance gives."""
LABELS_SURE: Final = 0.6
"""How likely it is that the labels do not belong to the inputs, where a linear fit finds nothing either."""
LINEAR_CODE: Final = """\
x = x_train.reshape(len(x_train), -1).astype("float64")
x = np.c_[(x - x.mean(0)) / (x.std(0) + 1e-9), np.ones(len(x))]
n = len(x) // 2                                        # fitted to the one half, held to the other
y = np.eye(int(y_train.max()) + 1)[y_train.ravel()] if y_train.dtype.kind in "iu" else y_train.reshape(len(x), -1)
w = np.linalg.solve(x[:n].T @ x[:n] + 0.1 * n * np.eye(x.shape[1]), x[:n].T @ y[:n])
print(np.corrcoef((x[n:] @ w).ravel(), y[n:].ravel())[0, 1])"""


def with_linear_fit(finding: Finding, lead: Episode, facts: Facts) -> Finding:
    """A finding of nothing learned with what a linear fit found, and its causes by that."""
    found = facts.linear_fits.get(max(lead.stream, 0), np.nan)
    if not isinstance(lead, (Collapsed, Plateau, Unrelated, Unskilled)) or NOTHING < found < THERE or np.isnan(found):
        return finding
    if isinstance(lead, Unrelated) and not lead.is_first:
        return finding
    is_there = found >= THERE
    causes = [one for one in finding.hypotheses if one.cause != LABELS or not is_there]
    if is_there and not causes:
        causes = [advise_model()]
    elif not is_there:
        causes = [_surer(one) if one.cause == LABELS else one for one in causes]
        best = max((one.confidence for one in causes), default=0.0)
        if isinstance(lead, Collapsed) and best < LABELS_SURE and all(one.cause != LABELS for one in causes):
            causes.append(advise_labels("one output for every sample", 0.5))
    number = f"correlation {say_number(found)}"
    said = (
        f"({number}): the inputs do tell what is asked for, and belong to it." if is_there else f"no better ({number})."
    )
    said = f" A linear fit to some samples of the same batches follows the targets of others {said}"
    evidence = finding.evidence | {"summary": finding.evidence["summary"] + said, "linear_fit": found}
    hypotheses = tuple(sorted(causes, key=lambda one: -one.confidence))
    return replace(finding, hypotheses=hypotheses, evidence=evidence)


def _surer(cause: Hypothesis) -> Hypothesis:
    return replace(
        cause,
        confidence=max(cause.confidence, LABELS_SURE),
        why="Not even a linear fit finds anything that the inputs and the labels have in common. " + cause.why,
    )


def advise_model() -> Hypothesis:
    """That it is none of the data, where nothing nearer is known."""
    return Hypothesis(
        "The model, its loss or its optimizer keeps from learning what the inputs tell",
        0.5,
        "What a linear fit finds in the same samples is not beyond any model: a step size that is far off, inputs of "
        "very different scale, an activation that holds the output back, a loss that asks for something else.",
        "Train on one batch until its loss is next to nothing, with Adam at 1e-3 and standardised inputs; what has to "
        "be taken away before that works is the cause.",
        LINEAR_CODE,
    )
