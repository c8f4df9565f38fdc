"""Trainings drawn by a seed: what is wrong with them is named, and of healthy ones nothing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.health.catalogue.drawn import DEFECTS, draw, is_named
from tests.health.catalogue.play import play, script

QUICK = {
    "sign": 0,
    "softmax_over_batch": 0,
    "softmax_of_one": 0,
    "scores_as_probabilities": 0,
    "one_column_far": 500,
    "targets_far": 500,
    "never_cleared": 503,
}
"""A seed of each with which it does harm."""
EACH_TIME = {"sign", "softmax_of_one", "never_cleared"}


def test_a_seed_draws_the_same_again() -> None:
    assert draw(3, "sign") == draw(3, "sign") != draw(4, "sign")


@pytest.mark.parametrize("defect", [None, *DEFECTS])
def test_what_is_drawn_is_a_script(defect: str | None) -> None:
    for seed in range(20):
        compile(draw(seed, defect), "drawn.py", "exec")


@pytest.mark.parametrize(
    ("defect", "seed"),
    [pytest.param(*one, marks=[] if one[0] in EACH_TIME else [pytest.mark.thorough]) for one in QUICK.items()],
)
def test_what_is_wrong_is_named(defect: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"{defect}.py"
    path.write_text(draw(seed, defect))
    played = play(script(path))
    assert is_named(defect, played), played.describe()


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 40))])
def test_healthy_ones(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "healthy.py"
    path.write_text(draw(seed))
    played = play(script(path))
    assert not played.findings, played.describe()
