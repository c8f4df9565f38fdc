"""Weights that something puts back between steps: told by their means, where the loss does not come down."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N = 200
Change = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""The means of the kernels before step n, given n, those after the last step and those at the start."""


def trained(change: Change, *, loss: float | np.ndarray = 2.3, seed: int = 0) -> Run:
    """The means of weights are sums of those of the updates, and of what is changed beside."""
    run = Run(dense(3), n_steps=N, seed=seed).set_loss(loss)
    kernels = [0, 2, 4]
    weight, update = run.columns("weight", kernels), run.columns("update", kernels)
    random = np.random.default_rng(seed)
    start = random.normal(0, 1e-3, 3)
    steps = 1e-5 * (0.5 + random.random((N, 3))) * np.sign(random.normal(size=3))
    mean = start
    for n in range(N):
        before = change(n, mean, start) if n else mean
        mean = before + steps[n]
        run.statistics[n, weight, COLUMN["mean"]] = mean
        run.statistics[n, update, COLUMN["mean"]] = steps[n]
    run.statistics[:, weight, COLUMN["norm"]] = 4.0
    return run


def put_back(every: int, left: float = 0.0) -> Change:
    return lambda n, mean, start: start + left * (mean - start) if n % every == 0 else mean


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize(("every", "often"), [(1, "before every step"), (10, "every 10 steps")])
def test_weights_that_are_put_back(every: int, often: str, batch: int) -> None:
    (found,) = trained(put_back(every, 0.05)).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", every)
    assert found.title == f"What the optimizer does is undone {often}: something puts the weights back"
    assert found.evidence["period"] == every
    assert found.evidence["left_over"] < 0.1
    assert found.hypotheses[0].cause.startswith("Something else writes older weights")


def test_some_kernels_alone() -> None:
    def change(n: int, mean: np.ndarray, start: np.ndarray) -> np.ndarray:
        return np.where([True, True, False], start, mean) if n % 5 == 0 else mean

    assert not trained(change).feed().findings(), "the last layer goes on, which is what fine-tuning may want"


def look_ahead(every: int) -> Change:
    """Slow weights go half of the way, and the fast ones begin there."""
    slow: list[np.ndarray] = []

    def change(n: int, mean: np.ndarray, start: np.ndarray) -> np.ndarray:
        if n % every:
            return mean
        slow.append(((slow[-1] if slow else start) + mean) / 2)
        return slow[-1]

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda n, mean, start: mean,
        look_ahead(10),
        lambda n, mean, start: start if n in (50, 100) else mean,
        lambda n, mean, start: np.minimum(mean, start + 2e-5),
        lambda n, mean, start: mean + 1e-4 * (n % 10 == 0),
    ],
    ids=["nobody", "half of it", "a checkpoint, twice", "a limit kept by hand", "moved elsewhere"],
)
def test_others_who_write_weights(change: Change) -> None:
    assert not trained(change).feed().findings()


def test_put_back_and_yet_learned() -> None:
    falling = 2.3 * np.exp(-np.arange(N) / 60.0)
    assert not trained(put_back(10), loss=falling).feed().findings()


def test_steps_that_do_not_follow_each_other_tell_nothing() -> None:
    assert not trained(put_back(10)).thin(4).feed().findings()


def test_what_stopped_is_told_as_over() -> None:
    def change(n: int, mean: np.ndarray, start: np.ndarray) -> np.ndarray:
        if n < 150:
            return put_back(5)(n, mean, start)
        return mean + 1e-4

    (found,) = trained(change).feed().findings()
    assert found.title == "What the optimizer did was undone every 5 steps until step 157"


SOURCE = {"file": "train.py", "line": 60, "code": "model.set_weights(average)", "excerpt": None}
EVERY = 25


def seen(loss: np.ndarray, *, left: float = 0.08, every: int = EVERY, every_row: int = 4) -> Run:
    """Weights that the hook saw put back, of which hardly any two rows in succession are known."""
    run = trained(lambda n, mean, start: mean, loss=loss).thin(every_row)
    run.assigned = [{"step": n, "left": left, "source": SOURCE} for n in range(every - 1, N, every)]
    return run


SAWTOOTH = 2.3 * np.exp(-np.arange(N) / 60.0) * np.exp(-(np.arange(N) % EVERY) / 40.0)
SLOW = 2.3 - 0.001 * np.arange(N)


@pytest.mark.parametrize("batch", [1, 64, N])
@pytest.mark.parametrize("loss", [SAWTOOTH, SLOW], ids=["it leaps each time", "it hardly falls"])
def test_what_the_hook_sees_is_told_with_its_line(loss: np.ndarray, batch: int) -> None:
    (found,) = seen(loss).feed(batch=batch).findings()
    assert found.title.endswith(f"undone every {EVERY} steps: something puts the weights back (train.py:60)")
    assert (found.first_step, found.source) == (EVERY, SOURCE)
    assert found.evidence["left_over"] == pytest.approx(0.08)
    assert ("The loss was higher afterwards" in found.evidence["summary"]) == (loss is SAWTOOTH)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(seen(2.3 * np.exp(-np.arange(N) / 60.0)), id="a loss that falls, and never leaps"),
        pytest.param(seen(SAWTOOTH, left=0.5), id="half is left"),
        pytest.param(seen(SAWTOOTH, every=90), id="twice"),
    ],
)
def test_what_the_hook_sees_may_be_meant(run: Run) -> None:
    assert not run.feed().findings()


def test_what_the_hook_sees_is_counted_once() -> None:
    run = trained(put_back(10))
    run.assigned = [{"step": n, "left": 0.0, "source": SOURCE} for n in range(9, N, 10)]
    (found,) = run.feed().findings()
    assert found.evidence["n_times"] == len(run.assigned) - 1
