"""Sequences that are their own targets, by the place that the hook tells and the loss."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch.protocol import ALIKE_PLACE, LEAKED_PLACES, MASKED_PLACE, TWICE_PLACE
from gradwatch_server.health.block import COLUMN
from gradwatch_server.health.finding import Finding
from tests.health.streams import Run, dense

N = 200
COPIED = 3.7 * np.exp(-np.arange(N) / 15)
LEARNED = np.linspace(3.7, 1.0, N)


def told(loss: np.ndarray, *, n_inputs: int) -> list[Finding]:
    """A model of which the last input is the target, and of which a layer's output has no axis of time.

    Args:
        loss: of each step.
        n_inputs: how many inputs it has.
    """
    names = [*(f"input/{place}" for place in range(n_inputs)), "target"]
    run = Run(dense(4), n_steps=N, layers=[("state", 32, "tanh"), ("out", 5, None)], inputs=[(n, 7) for n in names])
    for column in run.columns("input"):
        run.tensors[int(column)] |= {"shape": [None, 7], "dtype": "int32"}
    run.add_scalar("leaked", -float(n_inputs * LEAKED_PLACES)).set_loss(loss)
    return [one for one in run.feed().findings() if "its own target" in one.title]


def test_a_second_input_that_is_copied() -> None:
    (found,) = told(COPIED, n_inputs=2)
    assert found.title == "The targets are the inputs themselves: each sequence of input number 2 is its own target"
    assert found.first_step == 0


@pytest.mark.parametrize(
    ("loss", "n_inputs"),
    [
        pytest.param(COPIED, 1, id="an autoencoder"),
        pytest.param(LEARNED, 2, id="what a condition beside it helps to learn"),
    ],
)
def test_what_goes_through_a_bottleneck_is_no_leak(loss: np.ndarray, n_inputs: int) -> None:
    assert told(loss, n_inputs=n_inputs) == []


@pytest.mark.parametrize("loss", [LEARNED, np.full(N, 3.7)], ids=["falling", "level"])
def test_targets_that_are_moved_twice_are_told_whatever_the_loss(loss: np.ndarray) -> None:
    source = {"file": "train.py", "line": 7, "code": "labels = labels[:, 1:]"}
    slip = {"type": "Shift", "name": "slice", "layer": "", "source": source, "shifts": True}
    run = Run(dense(4), n_steps=N, layers=[("state", 32, "tanh"), ("out", 5, None)], slips=[slip])
    run.add_scalar("leaked", float(TWICE_PLACE)).set_loss(loss)
    (found,) = [one for one in run.feed().findings() if "shifted twice" in one.title]
    assert found.title == "The targets are shifted twice: each step learns the token after the next one (train.py:7)"
    assert found.source is not None


@pytest.mark.parametrize(("varies", "is_told"), [(True, True), (False, False)])
def test_samples_that_are_all_one_are_told_unless_it_is_always_the_same(*, varies: bool, is_told: bool) -> None:
    run = Run(
        dense(4), n_steps=N, layers=[("state", 32, "tanh"), ("out", 5, None)], inputs=[("input", 7), ("target", 1)]
    )
    run.statistics[:, run.columns("input")[0], COLUMN["mean"]] = np.arange(N) if varies else 1.0
    run.add_scalar("leaked", float(ALIKE_PLACE)).set_loss(np.full(N, 1.4))
    found = [
        one for one in run.feed().findings() if one.title.startswith("All samples of a batch are one and the same")
    ]
    assert len(found) == is_told
    assert all(".copy()" in one.hypotheses[0].code for one in found)


@pytest.mark.parametrize(("mask", "words"), [("Embedding", "`Embedding(mask_zero=True)`"), ("x != 0", "`x != 0`")])
def test_a_word_that_is_masked_as_padding_is_told_whatever_the_loss(mask: str, words: str) -> None:
    source = {"file": "train.py", "line": 7, "code": "layers.Embedding(n, 8, mask_zero=True)"}
    slip = {"type": "Omission", "name": "not_equal", "layer": "", "source": source, "omits": mask}
    run = Run(dense(4), n_steps=N, layers=[("state", 32, "tanh"), ("out", 5, None)], slips=[slip])
    run.add_scalar("leaked", float(MASKED_PLACE)).set_loss(LEARNED)
    (found,) = run.feed().findings()
    assert found.title == "Word 0 is masked as padding wherever it stands: the words are numbered from 0 (train.py:7)"
    assert found.source is not None
    assert words in found.evidence["summary"]
