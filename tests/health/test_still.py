"""Weights that stand still, gradients that are zero more often than not, and inputs that are computed in the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.health.streams import Run, dense, forward

N = 400
DIVISION = forward("RealDiv", "truediv", code="x = (x - mean) / deviation", line=12)


def run(**options: Any) -> Run:
    return Run(dense(4), n_steps=N, **options).set_loss(2.3)


@pytest.mark.parametrize(
    ("norm", "cause"), [(1e-9, "The loss hardly depends"), (1.0, "The learning rate is too small")]
)
@pytest.mark.parametrize("batch", [1, 64])
def test_weights_that_never_move(norm: float, cause: str, batch: int) -> None:
    (found,) = run().scale("update", 1e-12).scale("gradient", norm).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title.startswith(f"The weights have not moved in {N} steps")
    assert found.hypotheses[0].cause.startswith(cause)


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
@pytest.mark.parametrize("norm", [1e-9, 1.0])
def test_weights_of_a_type_that_rounds_updates_away(kind: str, norm: float) -> None:
    sick = run().scale("update", 1e-12).scale("gradient", norm)
    for tensor in sick.tensors:
        tensor["dtype"] = kind
    (found,) = sick.feed().findings()
    assert found.title == f"The weights have not moved in {N} steps: no update is large enough to change a {kind}"
    assert found.hypotheses[0].cause == f"The weights are kept in {kind}, which rounds the updates away"
    assert f'"mixed_{kind}"' in found.hypotheses[0].code
    assert "The learning rate is too small" not in [one.cause for one in found.hypotheses]


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 8])
def test_a_rate_that_came_down_to_0_too_early(batch: int, every: int) -> None:
    sick = still_from(80).thin(every)
    (found,) = sick.feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 80)
    assert found.title == "The weights have not moved since step 80: the learning rate is 0"
    assert [one.cause for one in found.hypotheses] == ["The schedule of the learning rate is at 0"]
    assert "after 80 steps" in found.hypotheses[0].why


@pytest.mark.parametrize(("start", "is_told"), [(60, True), (200, False)])
def test_a_schedule_that_spends_most_of_its_steps_on_nothing(start: int, is_told: bool) -> None:
    """Whatever was learned by then."""
    sick = Run(dense(4), n_steps=700).set_loss(np.geomspace(2.3, 1e-3, 700)).scale("update", 0.0, start=start)
    sick.scalars[start:, 1] = 0.0
    assert [found.first_step for found in sick.feed().findings()] == [start] * is_told


def test_a_rate_that_is_too_small_to_move_anything_since_some_step() -> None:
    (found,) = run().scale("update", 1e-12, start=150).feed().findings()
    assert found.title == "The weights have not moved since step 150: no update is large enough to change a float32"
    assert found.hypotheses[0].cause == "The learning rate is too small"


def still_from(start: int, stop: int | None = None) -> Run:
    sick = run().scale("update", 0.0, start=start, stop=stop)
    sick.scalars[start:stop, 1] = 0.0
    return sick


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(run().scale("update", 1e-12, stop=90), id="a rate that warms up"),
        pytest.param(still_from(0, 1), id="a warm-up that begins at 0"),
        pytest.param(still_from(N - 2), id="a decay that ends at 0 with the training"),
        pytest.param(still_from(210), id="a decay that ends before the training, and took longer than that"),
        pytest.param(still_from(20, 115), id="a rate that is 0 for a while"),
        pytest.param(still_from(80).set_loss(np.geomspace(2.3, 1e-3, N)), id="a training that has learned by then"),
    ],
)
def test_rates_of_0_that_are_meant(healthy: Run) -> None:
    assert not healthy.feed().findings()


def test_a_rate_of_0_every_other_stage_is_told_each_time() -> None:
    sick = Run(dense(4), n_steps=700).set_loss(2.3).scale("update", 0.0, start=100, stop=300)
    sick.scale("update", 0.0, start=310, stop=690)
    titles = [found.title for found in sick.feed().findings()]
    assert titles == [
        "The weights did not move from step 100 until step 300: no update was large enough",
        "The weights did not move from step 310 until step 690: no update was large enough",
    ]


def test_weights_that_move_after_all_are_told_in_the_past() -> None:
    (found,) = run().scale("update", 1e-12, stop=250).feed().findings()
    assert found.title == "The weights did not move until step 250: no update was large enough"


def test_a_loss_at_its_end_needs_no_updates() -> None:
    assert not run().set_loss(1e-9).scale("update", 1e-12).feed().findings()


@pytest.mark.parametrize("batch", [1, 64])
def test_no_gradient_in_most_of_the_steps(batch: int) -> None:
    sick = run().scale("gradient", np.where(np.arange(N) % 10 < 7, 0.0, 1.0))
    (found,) = sick.feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("zero_gradient", "warning", 0)
    assert "exactly zero in 70% of the steps" in found.title


def test_no_gradient_in_some_of_the_steps_is_a_margin_that_is_kept() -> None:
    assert not run().scale("gradient", np.where(np.arange(N) % 10 < 5, 0.0, 1.0)).feed().findings()


@pytest.mark.parametrize("is_computed", [True, False])
def test_an_input_that_the_step_computed_is_not_the_data(is_computed: bool) -> None:
    """The operation that made the NaN was found by computing the step again, and its own input was finite."""
    sick = run(inputs=[("input", 8)], operations=[DIVISION]).break_input([3], start=81)
    for kind in ("gradient", "update", "weight"):
        sick.break_(kind, start=81)
    sick.break_loss(81)
    if is_computed:
        sick.break_operation(0, start=81, stop=82, n_singular=1).name_origin(DIVISION, 81)
    found = sick.feed().findings()[0]
    assert found.first_step == 81
    assert (found.kind == "nonfinite_input") != is_computed
    assert ((found.source or {}).get("line") == 12) == is_computed


def crawling(*parts: tuple[int, float]) -> Run:
    """Updates of some part of the weights until some steps."""
    ratio, start = np.ones(N), 0
    for stop, value in parts:
        ratio[start:stop], start = value, stop
    return run(noise=0.01).scale("update", ratio / 1e-3)


@pytest.mark.parametrize("batch", [1, 64, 1024])
@pytest.mark.parametrize(
    ("sick", "titles"),
    [
        pytest.param(crawling((N, 1e-9)), ["The weights have not moved in 400 steps"], id="none"),
        pytest.param(crawling((N, 1e-6)), ["The weights hardly move"], id="little"),
        pytest.param(crawling((N, 4e-5)), ["The weights hardly move"], id="by a rate of 1e-6, of usual weights"),
        pytest.param(crawling((N, 1e-4)), [], id="by a rate of 3e-6"),
        pytest.param(crawling((310, 1e-6), (N, 1e-9)), ["The weights hardly move"], id="little, then none"),
        pytest.param(crawling((80, 1e-9), (N, 1e-6)), ["The weights hardly move"], id="none for a while, then little"),
    ],
)
def test_what_stands_and_what_crawls_is_told_once(sick: Run, titles: list[str], batch: int) -> None:
    found = sick.feed(batch=batch).findings()
    assert [one.title.partition(":")[0] for one in found] == titles


def test_words_without_their_places_are_no_reason_to_stand_still() -> None:
    """The order of words may be needed or not: where weights hardly move it is not known yet."""
    slip = {"type": "GatherV2", "name": "words/GatherV2", "layer": "words", "source": None, "n_places": 12}
    (guessed,) = run(slips=[slip]).feed().findings()
    assert guessed.hypotheses[0].cause == "The model has no position embedding"
    slow = run(slips=[slip]).scale("update", 1e-3)
    assert [one.title.partition(":")[0] for one in slow.feed().findings()] == ["The weights hardly move"]
