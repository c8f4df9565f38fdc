"""Class weights that let the rare label count for less."""

import numpy as np
import pytest

from tests.health.streams import Run, dense
from tests.numerics.reference import row

N_STEPS = 150


def run_with(labels: np.ndarray, weights: np.ndarray) -> Run:
    """A run with these targets and sample weights, each ``[n_steps, n_samples]``."""
    run = Run(dense(2), n_steps=len(labels), inputs=[("input", 8), ("target", 1), ("sample_weight", 1)])
    for place, batches in ((-2, labels), (-1, weights)):
        run.tensors[place] |= {"shape": [None]}
        run.statistics[:, place] = [row(batch.astype(np.float32).astype(np.float64)) for batch in batches]
    return run


def drawn(share: float, n_samples: int = 64) -> np.ndarray:
    return (np.random.default_rng(0).random((N_STEPS, n_samples)) < share).astype(np.int64)


def told(run: Run) -> list[str]:
    return [found.title for found in run.feed().findings() if "class weights" in found.title]


@pytest.mark.parametrize("n_samples", [8, 64, 1000])
@pytest.mark.parametrize(("rare", "share"), [(1, 0.06), (0, 0.06), (1, 0.3)])
def test_the_rare_label_counts_for_less(rare: int, share: float, n_samples: int) -> None:
    labels = np.abs((1 - rare) - drawn(share, n_samples))
    run = run_with(labels, np.where(labels == rare, 0.2, 1.7))
    (found,) = run.feed().findings()
    assert (found.kind, found.evidence["label"]) == ("loss_plateau", rare)
    assert (found.evidence["weight"], found.evidence["other_weight"]) == pytest.approx((0.2, 1.7))
    assert found.evidence["share"] == pytest.approx((labels == rare).mean(), abs=0.03)


@pytest.mark.parametrize("share", [0.06, 0.3, 0.94])
def test_weights_the_right_way_round(share: float) -> None:
    labels = drawn(share)
    assert told(run_with(labels, np.where(labels == 1, 1 / share, 1 / (1 - share)))) == []


def test_what_is_hardly_rarer_or_hardly_lighter() -> None:
    labels = drawn(0.45)
    assert told(run_with(labels, np.where(labels == 1, 0.2, 1.7))) == []
    labels = drawn(0.1)
    assert told(run_with(labels, np.where(labels == 1, 0.9, 1.1))) == []


def test_weights_of_something_else() -> None:
    """As many samples weigh less as are rare, in all; not in each batch."""
    labels = drawn(0.1)
    others = np.random.default_rng(1).permutation(labels.ravel()).reshape(labels.shape)
    assert told(run_with(labels, np.where(others == 1, 0.2, 1.7))) == []
    assert told(run_with(labels, np.random.default_rng(2).uniform(0.2, 1.7, labels.shape))) == []


def test_three_labels_say_nothing() -> None:
    labels = drawn(0.1) + drawn(0.3)
    assert told(run_with(labels, np.where(labels > 0, 0.2, 1.7))) == []


def test_few_rows_say_nothing() -> None:
    labels = drawn(0.1)[:15]
    assert told(run_with(labels, np.where(labels == 1, 0.2, 1.7))) == []
