"""A learning rate that is next to nothing for most of a training, while the loss has not come down."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health import Finding
from tests.health.streams import Run, dense

N = 900
STEPS = np.arange(N)


def run(rate: np.ndarray, *, loss: float = 1.9, stream: int = 0, **settings: float) -> Run:
    """A run whose loss goes from 2.3 to some level, with its learning rate at each step."""
    run = Run(dense(2), n_steps=len(rate), stream=stream, optimizer=f"adam_{stream}")
    run.scalars[:, 1] = rate
    run.settings = {"class": "Adam", **settings}
    return run.set_loss(np.maximum(2.3 - (2.3 - loss) * np.arange(len(rate)) / 100, loss))


def trained(rate: np.ndarray, *, loss: float = 1.9, **settings: float) -> list[Finding]:
    return run(rate, loss=loss, **settings).feed().findings()


def cosine(decay_steps: int, alpha: float = 1e-3) -> np.ndarray:
    done = np.minimum(STEPS, decay_steps) / decay_steps
    return 3e-3 * ((1 - alpha) * 0.5 * (1 + np.cos(np.pi * done)) + alpha)


def test_a_schedule_that_was_given_epochs_for_steps() -> None:
    (found,) = trained(cosine(14))
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 14)
    assert found.title == "The learning rate has been below 1% of its highest since step 14"
    assert found.evidence["highest"] == pytest.approx(3e-3)
    assert found.evidence["rate"] == pytest.approx(3e-6, rel=0.01)
    assert found.hypotheses[0].cause == (
        "The learning rate's schedule has taken it away: from about 0.003 down to 3e-06"
    )


@pytest.mark.parametrize(("other", "n"), [(1.0, 1), (3.0, 2)], ids=["the same", "another"])
def test_schedules_of_two_optimizers(other: float, n: int) -> None:
    engine = run(cosine(14)).feed()
    run(other * cosine(14), stream=1).feed(engine)
    assert len(engine.findings()) == n


def test_a_rate_that_is_no_schedule_s_is_set_by_a_callback_or_the_script() -> None:
    (found,) = trained(np.where(STEPS < 60, 1e-3, np.where(STEPS < 120, 1e-4, 1e-6)), learning_rate=1e-3)
    assert found.hypotheses[0].cause == (
        "What sets the learning rate between steps has taken it away: from about 0.001 down to 1e-06"
    )
    assert 'mode="max"' in found.hypotheses[0].code


EPOCHS = STEPS // 50


@pytest.mark.parametrize("loss", [1.9, 0.02])
def test_a_share_of_the_first_rate_that_multiplies_the_present_one(loss: float) -> None:
    (found,) = trained(2e-3 * np.exp(-0.4 * EPOCHS * (EPOCHS + 1) / 2), loss=loss, learning_rate=2e-3)
    assert found.first_step == 5 * 50
    assert "multiplied again by what should be its share of the first" in found.hypotheses[0].cause
    assert "first_rate * math.exp" in found.hypotheses[0].code


@pytest.mark.parametrize(("floor", "loss"), [(0.0, 1.9), (1e-7, 1.9), (1e-6, 0.6)])
def test_a_rate_that_is_cut_at_every_step(floor: float, loss: float) -> None:
    rate = np.maximum(1e-2 * 0.85 ** STEPS.astype(np.float64), floor)
    (found,) = trained(rate, loss=loss, learning_rate=1e-2)
    assert "cut at every step, not once in an epoch" in found.hypotheses[0].cause


def test_the_same_factor_each_time_is_no_share_of_the_first() -> None:
    (found,) = trained(1e-2 * 0.3**EPOCHS, learning_rate=1e-2)
    assert found.hypotheses[0].cause.startswith("What sets the learning rate between steps has taken it away")


@pytest.mark.parametrize(
    "rate",
    [
        pytest.param(cosine(N), id="ends low"),
        pytest.param(cosine(N // 2), id="low for as long as it was not"),
        pytest.param(np.where(STEPS < 450, 0.1, np.where(STEPS < 675, 0.01, 0.001)), id="steps"),
        pytest.param(1e-6 + 1e-3 * np.minimum(STEPS / 800, 1), id="warm-up"),
        pytest.param(np.full(N, 1e-5), id="low from the start"),
        pytest.param(np.where(STEPS < 14, 3e-3, 1e-4), id="a thirtieth"),
        pytest.param(np.full(N, np.nan), id="not known"),
    ],
)
def test_a_rate_that_is_well(rate: np.ndarray) -> None:
    assert not trained(rate)


def test_a_loss_that_has_come_down_needs_no_rate() -> None:
    assert not trained(cosine(14), loss=0.4)


@pytest.mark.parametrize(("rate", "loss", "is_told"), [(3e-9, 0.4, True), (3e-9, 0.1, False), (3e-6, 0.4, False)])
def test_steps_without_any_effect_are_told_though_much_was_learned(rate: float, loss: float, is_told: bool) -> None:
    assert len(trained(np.where(STEPS < 90, 3e-3, rate), loss=loss)) == is_told


def test_a_rate_that_comes_back() -> None:
    (found,) = trained(np.where((STEPS < 14) | (STEPS > 600), 3e-3, 3e-6))
    assert found.title == "The learning rate was below 1% of its highest from step 14 to step 600"


def test_a_loss_that_stands_because_of_it_is_folded() -> None:
    (found,) = trained(cosine(14), loss=2.3)
    assert found.title.startswith("The learning rate has been below 1%")
