"""Gradients that are sums of all gradients so far: by how they walk, or by how they begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwatch_server.health.finding import Finding
from tests.health.streams import COLUMN, Run, dense

N = 300
ROWS = np.arange(1.0, N + 1)


def run(means: Any, norms: Any) -> Run:
    """Gradients whose means go so, ``[n, n_tensors]``, and whose norms are so many times the first."""
    found = Run(dense(3), n_steps=N, noise=0.02).set_loss(2.3).scale("gradient", norms)
    found.statistics[:, found.columns("gradient"), COLUMN["mean"]] = 1e-3 * means
    return found


def batches(memory: float) -> Any:
    """Means of a gradient of each batch by itself (memory 0), of an average, or of the sum of all (1)."""
    new = np.random.default_rng(0).standard_normal((N, 6))
    means = np.zeros((N, 6))
    for row in range(N):
        means[row] = new[row] + (memory * means[row - 1] if row else 0)
    return means


def smooth() -> Any:
    """The sum of gradients that turn slowly, each tensor's in its own time."""
    return np.cumsum(np.cos(np.outer(ROWS, np.linspace(0.05, 0.12, 6))), axis=0)


def told(engine: Any) -> list[Finding]:
    return [found for found in engine.findings() if found.title.startswith("The gradients that are applied add up")]


def test_what_comes_straight_from_the_tape_of_its_step_is_no_sum() -> None:
    """Targets in euros: the gradient grows with the weights for as long as the outputs are far off."""
    grown = run(batches(1.0), np.sqrt(ROWS))
    assert told(grown.feed())
    grown.from_tape = True
    assert told(grown.feed()) == []


SICK = {
    "each batch is new": run(batches(1.0), np.sqrt(ROWS)),
    "whole data sets": run(smooth(), np.minimum(ROWS, 60)),
}


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("name", SICK)
def test_sums_that_are_never_cleared(name: str, batch: int) -> None:
    (found,) = told(SICK[name].feed(batch=batch))
    assert (found.kind, found.severity, found.first_step, found.last_step) == (
        "exploding_gradient",
        "warning",
        0,
        N - 1,
    )
    assert found.hypotheses[0].cause.endswith("sums that are never set back to zero")
    assert found.evidence["n_rows"] == N
    assert found.evidence["von_neumann_ratio"] < 0.1
    assert found.evidence["grown"] > 5


def test_ratio_is_that_of_numpy_over_the_first_hundred_rows() -> None:
    means = batches(1.0)
    (found,) = told(run(means, np.sqrt(ROWS)).feed())
    first = (1e-3 * means[:100]).astype(np.float32).astype(np.float64)
    ratio = np.median(np.mean(np.diff(first, axis=0) ** 2, axis=0) / np.var(first, axis=0))
    assert found.evidence["von_neumann_ratio"] == pytest.approx(ratio, rel=1e-2)


def test_full_statistics_at_some_steps_are_enough() -> None:
    assert told(SICK["each batch is new"].thin(3).feed()), "a walk that is looked at seldom is a walk"


@pytest.mark.parametrize(
    "well",
    [
        pytest.param(run(batches(0.0), np.minimum(ROWS, 50)), id="each batch by itself, growing"),
        pytest.param(run(batches(0.9), 10 * (1 - 0.9**ROWS)), id="an average that begins at 0"),
        pytest.param(run(batches(1.0), 1.0), id="a game that wanders, and does not grow"),
        pytest.param(run(batches(1.0), np.minimum(ROWS, 120 - ROWS).clip(1) ** 0.6), id="a walk that turns back"),
        pytest.param(run(smooth(), np.exp(np.minimum(ROWS, 80) / 16)), id="smooth, and growing by a share of itself"),
        pytest.param(run(batches(1.0), np.exp(ROWS / 40)), id="a walk that grows by a share of itself"),
    ],
)
def test_gradients_that_are_no_sums(well: Run) -> None:
    assert not told(well.feed())


def test_a_short_run_is_not_judged() -> None:
    short = Run(dense(3), n_steps=90, noise=0.02).scale("gradient", np.sqrt(ROWS[:90]))
    short.statistics[:, short.columns("gradient"), COLUMN["mean"]] = batches(1.0)[:90]
    assert not told(short.feed())


def beyond(first: float, later: float) -> Run:
    """Smooth sums, which begin as none do that are told by it; the last bias beside what a batch can give."""
    found = Run(
        [*dense(2), ("last/kernel", (64, 4), "float32"), ("last/bias", (4,), "float32")],
        n_steps=N,
        noise=0.02,
        layers=[("dense_1", 64, "relu"), ("last", 4, "linear")],
    )
    found.set_loss(2.3).scale("gradient", np.minimum(1.0 + ROWS / 20, 5.0))
    found.statistics[:, found.columns("gradient"), COLUMN["mean"]] = 1e-3 * smooth()
    (bias,), (signal,) = found.columns("gradient", [5]), found.columns("backprop", [1])
    n = found.statistics[:, signal, COLUMN["n_elements"]] / 4
    largest = np.sqrt(n) * found.statistics[:, signal, COLUMN["norm"]]
    found.statistics[:, bias, COLUMN["norm"]] = largest * np.where(ROWS < 40, first, later)
    return found


def test_a_gradient_that_no_batch_can_give() -> None:
    (found,) = told(beyond(0.3, 2.0).feed())
    assert found.kind == "exploding_gradient"


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(beyond(0.3, 0.9), id="within"),
        pytest.param(beyond(2.0, 2.0), id="from the start, as of several calls"),
    ],
)
def test_what_a_batch_can_give(healthy: Run) -> None:
    assert not told(healthy.feed())


def test_gradients_that_were_0_and_are_not_any_more() -> None:
    """Their growth is beyond any float."""
    norms = np.where(ROWS < 250, 0.0, 1.0)
    assert not told(run(batches(0.0) * norms[:, None], norms).feed())


def cycles(n_updates: int, norms: Any) -> Run:
    """Gradients that are read from variables which are set back after so many updates each."""
    found = Run(dense(3), n_steps=N, noise=0.02).set_loss(2.3).scale("gradient", norms)
    found.from_tape = False
    return found.add_scalar("sums_cleared", 1 + ROWS // n_updates)


SELDOM = "The gradients that are applied add up over about {} updates, and are set back to zero only then"
LINE = {"file": "train.py", "line": 9, "code": "clear()", "excerpt": None}


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("n_updates", [3, 10, 60])
def test_sums_that_are_cleared_seldom(n_updates: int, batch: int) -> None:
    sick = cycles(n_updates, np.sqrt(1 + (ROWS - 1) % n_updates))
    sick.cleared_source = LINE
    (found,) = sick.feed(batch=batch).findings()
    told = round(N / (1 + N // n_updates))  # the last time has only begun
    assert found.title == SELDOM.format(told)
    assert found.source == LINE
    assert found.hypotheses[0].cause.endswith(f"once in about {told} (train.py:9)")


def test_sums_that_were_cleared_for_the_first_time_after_many_updates() -> None:
    """They were told as never set back by then."""
    (found,) = cycles(60, np.sqrt(1 + (ROWS - 1) % 60)).feed(batch=1).findings()
    assert found.title == SELDOM.format(50)
    assert "which runs" not in found.hypotheses[0].why


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(cycles(1, np.sqrt(ROWS)), id="after each update"),
        pytest.param(cycles(10, np.sqrt(1.0 + ROWS % 2)), id="written into seldom, and no sum"),
        pytest.param(cycles(200, np.minimum(ROWS, 1.5)), id="once"),
    ],
)
def test_sums_that_are_cleared_as_they_should_be(healthy: Run) -> None:
    assert healthy.feed().findings() == []
