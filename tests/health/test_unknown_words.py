"""Sequences of numbers of words of which nearly all are 0, as the cause where little is learned."""

from __future__ import annotations

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N = 1200


def causes(share: float, *, length: int = 20) -> list[str]:
    """Of a loss that stays at guessing among 64 classes."""
    run = Run(dense(2), n_steps=N, layers=[("a", 64, "relu"), ("b", 64, None)], inputs=[("input", length)])
    (column,) = run.columns("input")
    run.tensors[int(column)] |= {"dtype": "int32"}
    run.statistics[:, column, COLUMN["n_elements"]] = 32 * length
    run.statistics[:, column, COLUMN["n_zero"]] = 32 * length * share
    run.set_loss(np.log(64.0))
    return [one.cause for found in run.feed().findings() for one in found.hypotheses]


def test_words_that_are_not_found() -> None:
    assert causes(0.95)[0] == "95% of the word numbers that enter are 0: the words are not found in the vocabulary"


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"share": 0.8}, id="padding"),
        pytest.param({"share": 0.95, "length": 1}, id="a category"),
    ],
)
def test_other_zeros(options: dict[str, float]) -> None:
    named = causes(**options)
    assert named
    assert not any("vocabulary" in cause for cause in named)
