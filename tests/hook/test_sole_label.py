"""Labels that are all the same are told where they are classes; a dummy target of another loss is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.slips.script.sole_label import _ends_in_units, _is_of_turns
from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

CAPTURE = ("gradient",)
X = np.random.default_rng(0).normal(size=(128, 4)).astype(np.float32)
ONES, BOTH = np.ones(128, np.int32), (X[:, 0] > 0).astype(np.int32)


def train(watch: Any, y: Any, loss: Any, *, units: int = 1, **options: Any) -> Any:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(units, "sigmoid" if units == 1 else "softmax")])
    model.compile(keras.optimizers.SGD(0.1), loss)
    begun = watch(model)
    model.fit(X[: len(y)], y, batch_size=16, verbose=0, **options)  # fit
    return begun


def only_in(recording: Any) -> list[tuple[float, int]]:
    return [(one["only"], one["samples"]) for one in found_in(recording) if "only" in one]


@pytest.mark.parametrize(
    ("y", "loss", "units", "expected"),
    [
        (ONES, "binary_crossentropy", 1, [(1.0, 128)]),
        (ONES[:, None] * 0.0, keras.losses.BinaryCrossentropy(), 1, [(0.0, 128)]),
        (ONES * 2, "sparse_categorical_crossentropy", 3, [(2.0, 128)]),
        (BOTH, "binary_crossentropy", 1, []),
        (ONES, "mse", 1, []),
        (ONES, lambda y, p: p, 1, []),
        (ONES[:64], "binary_crossentropy", 1, []),
        (ONES * 0.5, "binary_crossentropy", 1, []),
    ],
)
def test_labels_of_one_class(watch: Any, read: Any, y: Any, loss: Any, units: int, expected: Any) -> None:
    assert only_in(read(train(watch, y, loss, units=units))) == expected


def of_pairs(x: Any, y: Any, *more: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices((x, y, *more)).shuffle(64)


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lambda: of_pairs(X, ONES), [(1.0, 128)]),
        (lambda: of_pairs(X, ONES, X[:, 0]).cache().repeat(2), [(1.0, 128)]),
        (lambda: of_pairs(X, BOTH), []),
        (lambda: of_pairs(X, ONES).concatenate(of_pairs(X, 0 * ONES)), []),
        (lambda: of_pairs(X, ONES).map(lambda x, y: (x, tf.cast(x[0] > 0, tf.int32))), []),
    ],
)
def test_labels_of_one_class_in_a_data_set(watch: Any, read: Any, data: Any, expected: Any) -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.SGD(0.1), "binary_crossentropy")
    begun = watch(model)
    model.fit(data().batch(16).prefetch(2), verbose=0)
    assert only_in(read(begun)) == expected


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("model.fit(X, y)", True),
        ("for epoch in range(9): model.fit(X, y)", False),
        ("model.fit(real, ones)\nmodel.fit(made, zeros)", False),
        ("scaler.fit(X)\nmodel.fit(X, y)", True),
    ],
)
def test_what_is_fitted_in_turns(tmp_path: Path, text: str, is_told: bool) -> None:
    path = tmp_path / "fitted.py"
    path.write_text(text)
    assert _is_of_turns(str(path)) is not is_told


def test_two_scores_that_are_compared() -> None:
    better, worse = keras.Input((4,)), keras.Input((4,))
    score = layers.Dense(1)
    apart = layers.Activation("sigmoid")(layers.Subtract()([score(better), score(worse)]))
    assert not _ends_in_units(keras.Model([better, worse], apart))
    assert _ends_in_units(keras.Model(better, layers.Activation("sigmoid")(score(better))))


def test_it_is_told_with_the_line_of_fit(watch: Any, read: Any) -> None:
    found = diagnose(read(train(watch, ONES, "binary_crossentropy", epochs=16))).findings()
    (told,) = [one for one in found if one.title.startswith("All 128 labels are 1")]
    assert told.source["line"] == find_line("fit", Path(__file__))


FEW = np.arange(128) < 4


@pytest.mark.parametrize(
    ("y", "options", "expected"),
    [
        (FEW.astype(np.float32), {}, [(4 / 128, 1)]),
        (1 - FEW.astype(np.int32), {}, [(4 / 128, 0)]),
        (FEW.astype(np.float32), {"class_weight": {0: 1.0, 1: 30.0}}, []),
        (FEW.astype(np.float32), {"sample_weight": 1 + 30.0 * FEW}, []),
        (BOTH, {}, []),
        (FEW * 0.5, {}, []),
        (ONES, {}, []),
    ],
)
def test_few_labels_of_one_class(watch: Any, read: Any, y: Any, options: Any, expected: Any) -> None:
    found = known_in(read(train(watch, y, "binary_crossentropy", **options)), "scarce")
    assert [(one["scarce"], one["label"]) for one in found] == expected


AMOUNTS = np.where(np.arange(128) % 3 == 0, 2.0, 0.0).astype(np.float32)


@pytest.mark.parametrize(
    ("y", "loss", "options", "expected"),
    [
        (AMOUNTS, "mae", {}, [(85 / 128, 0.0)]),
        (5 - AMOUNTS[:, None], keras.losses.MeanAbsoluteError(), {}, [(85 / 128, 5.0)]),
        (AMOUNTS, "mse", {}, []),
        (AMOUNTS, lambda y, p: abs(y - p), {}, []),
        (X[:, 0], "mae", {}, []),
        (np.where(np.arange(128) % 2 == 0, X[:, 0], 0.0), "mae", {}, []),  # no more than half
        (ONES, "mae", {}, []),
        (AMOUNTS, "mae", {"sample_weight": np.where(AMOUNTS > 0, 3.0, 1.0)}, []),
        (AMOUNTS[:64], "mae", {}, []),
    ],
)
def test_targets_that_are_mostly_one_number(
    watch: Any, read: Any, y: Any, loss: Any, options: Any, expected: Any
) -> None:
    found = [one for one in found_in(read(train(watch, y, loss, **options))) if "usual" in one]
    assert [(one["usual"], one["value"]) for one in found] == expected
    assert all(one["guess"] == pytest.approx(2.0 * 43 / 128) for one in found)
