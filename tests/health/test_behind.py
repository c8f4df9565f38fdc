"""A loss that stays where it began is told where it came down in the last healthy run of the same script."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health import Baseline, Course, Engine, Finding
from tests.health.streams import Run, dense

N = 700
STEPS = np.arange(N, dtype=np.int64)
FALLING = 2.3 * np.exp(-STEPS / 100.0) + 0.1
SETTINGS = [("optimizer.learning_rate", 1e-3, 3e-9), ("batch_size", None, 64)]


def held_against(loss: np.ndarray, there: np.ndarray = FALLING, *, batch: int = 64, **options) -> list[Finding]:
    """What is found of a run with a loss, after a healthy run with another; both with the noise of batches."""
    noise = np.random.default_rng(0).normal(1.0, 0.05, (2, len(there)))
    course = Course(np.arange(len(there), dtype=np.int64), there * noise[0])
    baseline = Baseline("before-1", "before", options.pop("differences", SETTINGS), {"loss": course})
    run = Run(dense(3), n_steps=len(loss), **options).set_loss(loss * np.resize(noise[1], len(loss)))
    return run.feed(Engine(baseline), batch=batch).findings()


@pytest.mark.parametrize("batch", [1, 7, 700])
def test_a_loss_that_stays_where_it_began(batch: int) -> None:
    (found,) = held_against(np.full(N, 2.4), batch=batch)
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    # The healthy run's loss is half of its start after 75 steps; here twice as many are given.
    assert 150 <= found.first_step <= 180
    assert found.evidence["baseline_run"] == "before-1"
    at = found.evidence["baseline_step"]
    assert found.evidence["baseline_level"] == pytest.approx(FALLING[at - 10], rel=0.15)
    assert found.evidence["start"] == pytest.approx(found.evidence["level"], rel=0.1)
    assert found.title.startswith("The loss does not come down as it did in the last healthy run: 2.4")
    changed, code = found.hypotheses
    assert changed.cause.endswith("optimizer.learning_rate and batch_size")
    assert "batch_size (64, there not set)" in changed.why
    assert changed.code.splitlines()[0] == "# optimizer.learning_rate: 3e-09 here, 0.001 there"
    assert "dismiss" in code.fix


def test_where_no_setting_was_changed_it_is_code_or_data() -> None:
    (found,) = held_against(np.full(N, 2.4), differences=[])
    (hypothesis,) = found.hypotheses
    assert hypothesis.cause.startswith("The code or the data were changed")


WELL = {
    "falls as it did": FALLING,
    "takes twice as long": 2.3 * np.exp(-STEPS / 200.0) + 0.1,
    "takes four times as long": 2.3 * np.exp(-STEPS / 400.0) + 0.1,
    "another loss, by its start": np.full(N, 0.7),
    "goes on from trained weights": np.full(N, 0.1),
    "ends before it can be told": np.full(330, 2.4),
}


@pytest.mark.parametrize("name", WELL)
def test_what_is_no_sign(name: str) -> None:
    assert held_against(WELL[name]) == []


@pytest.mark.parametrize(
    "there", [np.full(N, 2.4), 2.3 * np.exp(-STEPS / 1e3) + 0.1, FALLING[:15]], ids=["level", "slow", "short"]
)
def test_an_earlier_run_that_is_no_measure(there: np.ndarray) -> None:
    assert held_against(np.full(N, 2.4), there) == []


def test_a_loss_that_comes_down_later() -> None:
    late = np.where(STEPS < 450, 2.4, 2.4 * np.exp(-(STEPS - 450) / 30.0) + 0.1)
    (found,) = held_against(late)
    assert found.title.startswith("The loss came down later than in the last healthy run: from step 4")


def test_without_an_earlier_run_nothing_is_told() -> None:
    assert Run(dense(3), n_steps=N).set_loss(np.full(N, 2.4)).feed().findings() == []


def test_it_is_folded_under_what_explains_it() -> None:
    noise = np.random.default_rng(0).normal(1.0, 0.05, N)
    course = Course(STEPS, FALLING * noise)
    run = Run(dense(3), n_steps=N).set_loss(2.4 * noise).scale("gradient", 0.0, [0, 1], start=20)
    (found,) = run.feed(Engine(Baseline("a", "a", SETTINGS, {"loss": course}))).findings()
    assert found.kind == "zero_gradient"
    assert "loss_plateau" in [one["kind"] for one in found.evidence["flood"]]
