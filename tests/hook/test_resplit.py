"""Data sets for training and validation that share samples are told; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.slips.script.resplit import find_resplit
from tests.hook.diagnosis import found_in

CAPTURE = ("gradient",)
N = 200
CUT = 50


def data() -> tf.data.Dataset:
    rng = np.random.default_rng(0)
    return tf.data.Dataset.from_tensor_slices((rng.normal(size=(N, 3)), rng.normal(size=N)))


def told(watch: Any, read: Any, train: tf.data.Dataset, held: tf.data.Dataset) -> list[dict[str, Any]]:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    begun = watch(model)
    model.fit(train, validation_data=held, shuffle=False, verbose=0)
    return [one for one in found_in(read(begun)) if "resplit" in one]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_shuffle_that_is_drawn_anew(watch: Any, read: Any, is_first: bool) -> None:
    mixed = data().shuffle(N, seed=1)
    parts = [mixed.take(CUT).batch(10).cache(), mixed.skip(CUT).batch(10).prefetch(2)]
    (found,) = told(watch, read, *(parts if is_first else parts[::-1]))
    assert found["resplit"] == "shuffle"


@pytest.mark.parametrize("how", ["once", "cached", "behind", "narrow", "same"])
def test_one_order_for_both(watch: Any, read: Any, how: str) -> None:
    mixed = data().shuffle(N if how != "narrow" else 10, reshuffle_each_iteration=how != "once")
    if how == "cached":
        mixed = mixed.cache()
    if how == "behind":
        mixed = data()
    held = mixed.take(CUT).batch(10)
    rest = mixed.take(CUT).batch(10) if how == "same" else mixed.skip(CUT).shuffle(N).batch(10)
    assert told(watch, read, rest, held) == []


FIRST = "train = image_dataset_from_directory(folder, validation_split=0.2, subset='training', seed=1)\n"
SECOND = FIRST.replace("train =", "val =").replace("training", "validation")
FIT = "train = train.prefetch(2)\nmodel.fit(train, validation_data=val, epochs=3)\n"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (FIRST + SECOND.replace("validation'", "training'") + FIT, "subset"),
        (FIRST + SECOND.replace("seed=1", "seed=2") + FIT, "seed"),
        (FIRST + SECOND + FIT, None),
        (FIRST + SECOND.replace("validation'", "training'").replace("folder", "other") + FIT, None),
        (FIRST + SECOND.replace("seed=1", "seed=2, shuffle=False") + FIT, None),
        (FIRST + SECOND.replace("validation'", "training'"), None),
    ],
)
def test_folders_that_are_listed_twice(tmp_path: Path, lines: str, wanted: str | None) -> None:
    path = tmp_path / "train.py"
    path.write_text(lines)
    found = find_resplit([str(path)])
    assert [(one["resplit"], one["source"]["line"]) for one in found] == ([] if wanted is None else [(wanted, 2)])
