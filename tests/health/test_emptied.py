"""Divisors in a model that are mostly 0, and of which a division makes 0."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health.finding import Finding
from tests.health.streams import Run, dense, forward

N, DIVISORS = 200, 96
TITLE = "of the divisors in mean are 0, and `divide_no_nan` makes 0 of them (train.py:34)"
LEVEL = np.full(N, 1.6)
FALLING = 0.1 + 1.5 * np.exp(-np.arange(N) / 20)


def told(
    n_zero: int, *, n_divisors: int = DIVISORS, layer: str = "mean", loss: np.ndarray = LEVEL, every: int = 1
) -> list[Finding]:
    division = forward("DivNoNan", "m/mean/div_no_nan", layer=layer, code="tf.math.divide_no_nan(total, n)", line=34)
    run = Run(dense(2), n_steps=N, operations=[division]).set_loss(loss)
    run.break_operation(0, start=0, n=0, margin=0.0 if n_zero else 1.0, n_singular=n_zero)
    run.operation_rows[:, 0, -1] = n_divisors
    return [one for one in run.thin_operations(every).feed().findings() if "`divide_no_nan` makes 0" in one.title]


@pytest.mark.parametrize("every", [1, 10])
def test_most_divisors_are_0(every: int) -> None:
    (found,) = told(88, every=every)
    assert (found.kind, found.severity, found.first_step, found.layer) == ("loss_plateau", "warning", 0, "mean")
    assert found.title == f"92% {TITLE}"
    assert found.hypotheses[0].cause.startswith("What is divided by, such as the size of a mask, is 0 for most samples")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"n_zero": 20}, id="a few"),
        pytest.param({"n_zero": 1, "n_divisors": 1}, id="one number"),
        pytest.param({"n_zero": 88, "layer": ""}, id="outside of the model"),
        pytest.param({"n_zero": 88, "loss": FALLING}, id="and the rest is learned from"),
    ],
)
def test_others_are_not_told(options: dict[str, object]) -> None:
    assert told(**options) == []  # type: ignore[arg-type]
