"""Weights that never move, gradients that are zero more often than not, and inputs that are computed in the step."""

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


def test_weights_that_move_at_any_time_are_none() -> None:
    late, early = run().scale("update", 1e-12, start=1), run().scale("update", 1e-12, stop=90)
    assert not late.feed().findings()
    assert not early.feed().findings(), "a rate that warms up"


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
