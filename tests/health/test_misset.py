"""Settings of an optimizer that undo one another are told by themselves, whatever the loss does."""

from __future__ import annotations

import pytest

from tests.health.streams import Run, dense

SWAPPED = {"class": "AdamW", "beta_1": 0.999, "beta_2": 0.9}


def test_betas_that_are_swapped() -> None:
    (found,) = Run(dense(2), settings=SWAPPED).feed().findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title == "`beta_1` and `beta_2` of AdamW look swapped: 0.999 and 0.9"
    assert (found.evidence["beta_1"], found.evidence["beta_2"]) == (0.999, 0.9)
    assert found.hypotheses[0].fix.endswith("give `beta_1` the smaller one.")


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.999), (0.9, 0.9), (0.95, 0.95), (0.0, 0.9), (0.5, 0.9)], ids=str)
def test_betas_that_fit(first: float, second: float) -> None:
    assert not Run(dense(2), settings={"class": "Adam", "beta_1": first, "beta_2": second}).feed().findings()


def test_a_trial_of_a_few_steps() -> None:
    assert not Run(dense(2), n_steps=40, settings=SWAPPED).feed().findings()


def test_a_loss_that_stands_because_of_it_is_folded() -> None:
    run = Run(dense(2), n_steps=600, settings=SWAPPED)
    run.set_loss(2.3)
    (found,) = run.feed().findings()
    assert "look swapped" in found.title
