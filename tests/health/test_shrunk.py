"""Weights that lose a share of themselves at every step, beside what the optimizer does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N = 200
STEPS = np.arange(N)


def run_of(norm: np.ndarray, *, update: float = 1e-3, which: tuple[int, ...] = (0, 1)) -> Run:
    """Kernels of a certain norm after each step, with updates of the same norm at each."""
    run = Run(dense(2), n_steps=N).set_loss(np.linspace(2.3, 0.2, N))
    for layer in which:
        weight, updated = (int(run.columns(kind, [2 * layer])[0]) for kind in ("weight", "update"))
        run.statistics[:, weight, COLUMN["norm"]] = norm
        run.statistics[:, updated, COLUMN["norm"]] = update
    return run


def told(run: Run, **options: int) -> list[str]:
    return [one.title for one in run.feed(**options).findings()]


@pytest.mark.parametrize("batch", [1, 64])
def test_a_decay_that_takes_more_than_the_optimizer_gives(batch: int) -> None:
    run = run_of(8.0 * 0.95**STEPS)
    run.assigned = [{"step": 0, "left": None, "source": {"file": "train.py", "line": 9, "code": "k.assign(k * 0.95)"}}]
    (found,) = run.feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title == "Something besides the optimizer takes about 5% off the weights at every step (train.py:9)"
    assert found.source is not None
    assert found.source["line"] == 9
    assert found.evidence["share"] == pytest.approx(0.05)
    assert found.evidence["tensors"] == ["dense_0/kernel", "dense_1/kernel"]
    assert found.hypotheses[0].cause.startswith("A weight decay of the script's own is far too strong")


def test_one_kernel_is_enough() -> None:
    (found,) = told(run_of(8.0 * 0.99**STEPS, which=(1,)))
    assert "takes about 1% off" in found


@pytest.mark.parametrize(
    ("norm", "update"),
    [
        pytest.param(8.0 * 0.95**STEPS, 1.0, id="the optimizer moves them as far"),
        pytest.param(8.0 * (1 - 1e-4) ** STEPS, 1e-5, id="a decay as usual"),
        pytest.param(np.where(STEPS < 1, 8.0, 0.8), 1e-3, id="a limit that is kept"),
        pytest.param(8.0 * 0.9 ** (STEPS // 10), 1e-3, id="every tenth step"),
        pytest.param(np.full(N, 8.0), 1e-3, id="as they are"),
    ],
)
def test_weights_that_are_well(norm: np.ndarray, update: float) -> None:
    assert told(run_of(norm, update=update)) == []


def test_rows_with_steps_between_them_tell_nothing() -> None:
    assert told(run_of(8.0 * 0.95**STEPS).thin(3)) == []
