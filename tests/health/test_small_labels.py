"""Labels of 0 and a number far below 1, by the statistics of what enters."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health.finding import Finding
from tests.health.streams import COLUMN, Run, dense

N = 120
LOSS = 0.5 * np.exp(-np.arange(N) / 20) + 0.01


def told(
    label: float, *, low: float = 0.0, share: float = 0.2, function: str = "sigmoid", spread: float = 1.0
) -> list[Finding]:
    """Targets of which a share has one value, and the others another.

    Args:
        label: the larger value.
        low: the smaller.
        share: of the larger, about; it differs from batch to batch.
        function: the last layer's.
        spread: times the deviation that two values have.
    """
    run = Run(dense(2), n_steps=N, layers=[("hidden", 32, "relu"), ("out", 1, function)], inputs=[("target", 1)])
    (column,) = run.columns("input")
    run.tensors[int(column)] |= {"tensor": "target"}
    shares = np.clip(share + 0.05 * np.random.default_rng(0).normal(size=N), 0.0, 1.0)
    std = (label - low) * np.sqrt(shares * (1 - shares)) * spread
    for name, values in {"min": low, "max": label, "mean": low + shares * (label - low), "std": std}.items():
        run.statistics[:, column, COLUMN[name]] = values
    return [one for one in run.set_loss(LOSS).feed().findings() if "labels" in one.title]


@pytest.mark.parametrize("label", [1 / 255, 0.01])
def test_labels_that_were_scaled_down(label: float) -> None:
    (found,) = told(label)
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title == f"The labels are 0 and {'0.00392' if label < 0.005 else '0.01'}, where 0 and 1 are meant"
    assert ("1 / 255" in found.evidence["summary"]) == (label == 1 / 255)
    assert found.hypotheses[0].cause.startswith("The labels were scaled down")


def test_batches_without_a_yes_say_nothing() -> None:
    assert told(0.0) == []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"label": 1.0}, id="labels"),
        pytest.param({"label": 0.2}, id="no small ones"),
        pytest.param({"label": 0.05, "low": 0.01}, id="no zero"),
        pytest.param({"label": 0.05, "spread": 0.5}, id="rates"),
        pytest.param({"label": 0.05, "function": "relu"}, id="no probabilities"),
    ],
)
def test_other_targets(options: dict[str, float]) -> None:
    assert told(**options) == []
