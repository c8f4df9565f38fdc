"""Class weights that are given to the wrong labels: told, and only then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

from tests.hook.diagnosis import found_in

CAPTURE = ("gradient", "operation")


@pytest.mark.parametrize(
    ("weights", "is_told"),
    [
        (lambda counts: dict(enumerate(counts / counts.sum())), True),
        (lambda counts: dict(enumerate(counts.tolist())), True),
        (lambda counts: dict(enumerate(counts.sum() / (3 * counts))), False),
        (lambda counts: {0: 1.0, 1: 1.0, 2: 1.0}, False),
        (lambda counts: {0: 6.0, 1: 3.0, 2: 1.0}, False),
        (lambda counts: dict(enumerate((counts / counts.sum())[:2])), False),
        (lambda counts: None, False),
    ],
    ids=["shares", "counts", "inverse", "even", "costs", "two", "none"],
)
@pytest.mark.parametrize("is_one_hot", [False, True], ids=["ids", "one hot"])
def test_class_weights_that_grow_with_the_counts(
    watch: Any, read: Any, weights: Callable[[Any], Any], is_told: bool, is_one_hot: bool
) -> None:
    y = np.repeat([0, 1, 2], [60, 30, 10])
    given = weights(np.bincount(y))
    labels = y % max(len(given or [0, 0, 0]), 1)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "softmax")])
    model.compile("sgd", "categorical_crossentropy" if is_one_hot else "sparse_categorical_crossentropy")
    watched = watch(model, capture=("gradient",))
    targets = keras.utils.to_categorical(labels, 3) if is_one_hot else labels
    model.fit(np.zeros((100, 2)), targets, class_weight=given, verbose=0)
    found = [one for one in found_in(read(watched)) if "favours" in one]
    assert [(one["favours"], one["rare"]) for one in found] == [("0", "2")] * is_told


@pytest.mark.parametrize(
    ("weights", "due"),
    [
        ([100 / 3 / 60, 100 / 3 / 30, 100 / 3 / 10], ("1", 100 / 3 / 60)),
        ([100 / 3 / 30, 100 / 3 / 60, 100 / 3 / 10], None),
        ([100 / 3 / 28, 100 / 3 / 62, 100 / 3 / 10], None),
        ([2.0, 1.1, 5.0], None),
        ([1.0, 2.0, 6.0], None),
        ([1.05, 1.53, 2.12], None),
    ],
    ids=["by count", "of their labels", "of more samples", "costs", "short costs", "other numbers"],
)
def test_balanced_class_weights_in_the_wrong_order(
    watch: Any, read: Any, weights: list[float], due: tuple[str, float] | None
) -> None:
    y = np.repeat([0, 1, 2], [30, 60, 10])
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    watched = watch(model, capture=("gradient",))
    model.fit(np.zeros((100, 2)), y, class_weight=dict(enumerate(weights)), verbose=0)
    found = [one for one in found_in(read(watched)) if "favours" in one]
    assert [one["favours"] for one in found] == ([] if due is None else [due[0]])
    assert all(due is not None and one["due"] == pytest.approx(due[1]) for one in found)
