"""What is told only because a run has ended: nothing was learned, and nothing more is to come."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradwatch_server.health import Engine
from tests.health.streams import COLUMN, Run, dense

N = 150
GUESS = math.log(64)
"""Of the 64 outputs that the last of the dense layers has."""


def noisy(level: float | np.ndarray, n: int = N, noise: float = 0.02) -> np.ndarray:
    return level * np.random.default_rng(1).normal(1.0, noise, n)


def run_of(loss: np.ndarray) -> Run:
    return Run(dense(3), n_steps=len(loss)).set_loss(loss)


def ended(loss: np.ndarray, **feeding) -> Engine:
    engine = run_of(loss).feed(**feeding)
    assert engine.findings() == []
    engine.finish()
    return engine


@pytest.mark.parametrize("batch", [1, 20, 200])
def test_a_loss_that_ended_at_guessing(batch: int) -> None:
    (found,) = ended(noisy(GUESS), batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", N - 100)
    assert found.title == "The loss ended at 4.15, no better than guessing among 64 classes"
    assert found.evidence["is_final"] is True
    assert found.evidence["guess"] == pytest.approx(GUESS)
    assert "It began at 4.1" in found.evidence["summary"]
    assert found.hypotheses


def test_what_died_on_the_way_comes_behind_a_loss_that_never_was_better() -> None:
    run = Run(dense(2), n_steps=400, layers=[("dense_0", 64, "relu"), ("dense_1", 64, None)])
    engine = run.set_loss(noisy(GUESS, 400)).flatten([0], np.where(np.arange(400) < 100, 0.1, 0.6)).feed()
    engine.finish()
    first, second = engine.findings()
    assert "no better than guessing among 64 classes" in first.title
    assert "have been dead since step 100" in second.title


def test_one_player_of_a_game_has_no_labels() -> None:
    """Its inputs are seen and it has no targets: what it wants to hear is told by another model, not watched."""
    for inputs, n_found in [([("input", 8)], 0), ([("input", 8), ("target", 1)], 1)]:
        engine = Run(dense(3), n_steps=N, inputs=inputs).set_loss(noisy(GUESS)).feed()
        engine.finish()
        assert len(engine.findings()) == n_found


@pytest.mark.parametrize(
    "loss",
    [noisy(GUESS * np.linspace(1.0, 1.2, N)), noisy(GUESS + 3 * np.exp(-np.arange(N) / 10.0))],
    ids=["rose", "came down to it"],
)
def test_other_ways_to_end_there(loss: np.ndarray) -> None:
    (found,) = ended(loss).findings()
    assert "no better than guessing among 64 classes" in found.title


LEARNED = {
    "fell a little": noisy(GUESS * np.linspace(1.0, 0.93, N), noise=0.005),
    "had fallen, and came back": noisy(GUESS * np.where(np.arange(N) < 40, 0.8, 1.0)),
    "began trained, and stayed": noisy(0.3),
    "began far away, and is on its way": noisy(10 * np.linspace(1.0, 0.9, N), noise=0.005),
    "was over too soon to tell": noisy(GUESS, 99),
}


@pytest.mark.parametrize("name", LEARNED)
def test_what_is_no_guess(name: str) -> None:
    assert ended(LEARNED[name]).findings() == []


def test_a_part_of_the_loss_may_stay_at_guessing() -> None:
    """As that of an adversary does, which is to learn nothing."""
    engine = run_of(noisy(2 * GUESS * np.exp(-np.arange(N) / 40.0))).feed()
    engine.feed_scalar("domain_loss", np.arange(N), noisy(GUESS))
    engine.finish()
    assert engine.findings() == []


def test_a_run_that_goes_on_is_judged_anew() -> None:
    loss = np.concatenate([noisy(GUESS), noisy(GUESS * np.exp(-np.arange(N) / 40.0))])
    run, engine = run_of(loss), Engine()
    run.announce(engine)
    run.feed_slice(engine, slice(0, N))
    engine.finish()
    assert [found.kind for found in engine.findings()] == ["loss_plateau"]
    engine.finish()
    assert len(engine.findings()) == 1
    run.feed_slice(engine, slice(N, None))
    assert engine.findings() == []
    engine.finish()
    assert engine.findings() == []


def regression(loss: float, n: int = N) -> Run:
    """One output, and targets of variance 4 of which a batch has as many."""
    variables = [*dense(2), ("last/kernel", (64, 1), "float32")]
    run = Run(variables, n_steps=n, layers=[("hidden", 64, "relu"), ("last", 1, "linear")], inputs=[("target", 1)])
    (target,) = run.columns("input")
    run.tensors[int(target)]["tensor"] = "target"
    for name, value in (("mean", 1.0), ("std", 2.0), ("min", -5.0), ("max", 7.0)):
        run.statistics[:, target, COLUMN[name]] = value
    return run.set_loss(noisy(loss, n))


def test_a_squared_error_that_ended_at_the_variance_of_the_targets() -> None:
    engine = regression(4.0).feed()
    assert engine.findings() == []
    engine.finish()
    (found,) = engine.findings()
    assert found.title == "The loss ended at 3.99: that is about the variance of the targets"
    better = regression(3.0).feed()
    better.finish()
    assert better.findings() == []


def test_a_squared_error_as_large_as_the_loss_of_guessing_is_none() -> None:
    engine = regression(math.log(2)).feed()
    engine.finish()
    assert engine.findings() == []
