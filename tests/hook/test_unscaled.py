"""Layers that are given an input as it is: known to the hook, and told where one column is far wider than another."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, known_in

CAPTURE = ("gradient", "input", "operation")
pytestmark = pytest.mark.rows

RANDOM = np.random.default_rng(0)
TABLE = RANDOM.normal(size=(256, 3)).astype(np.float32)
TABLE[:, 1] *= 1e5
WAVES = RANDOM.normal(size=(64, 5, 3)).astype(np.float32)
LABELS = RANDOM.integers(0, 2, (256, 1)).astype(np.float32)


def scaled() -> layers.Layer:
    scale = layers.Normalization(name="scale")
    scale.adapt(TABLE)
    return scale


@pytest.mark.parametrize(
    ("x", "first", "entered"),
    [
        (TABLE, [], ["out"]),
        (TABLE, [layers.Dense(4, "relu", name="first")], ["first"]),
        (TABLE, [layers.BatchNormalization(), layers.Dense(4)], []),
        (TABLE, [layers.Rescaling(1e-3)], []),
        (TABLE[:, :1], [layers.Dense(4)], []),
        (WAVES, [layers.Conv1D(4, 3, name="first"), layers.Flatten()], ["first"]),
        (WAVES, [layers.LSTM(4, name="first")], ["first"]),
    ],
    ids=["last", "dense", "normalised", "rescaled", "one column", "convolution", "recurrence"],
)
def test_what_enters_a_layer_as_it_is(watch: Any, read: Any, x: Any, first: Any, entered: list[str]) -> None:
    copies = [one.__class__.from_config(one.get_config()) for one in first]
    model = keras.Sequential([keras.Input(x.shape[1:]), *copies, layers.Dense(1, name="out")])
    model.compile("sgd", "mse")
    begun = watch(model)
    model.fit(x, LABELS[: len(x)], verbose=0)
    found = known_in(read(begun), "entering")
    assert [one["layer"].rpartition("/")[2] for one in found] == entered
    assert all(one["entering"] == 3 for one in found)


@pytest.mark.parametrize("is_scaled", [False, True], ids=["raw", "scaled"])
def test_a_column_that_dwarfs_the_others(watch: Any, read: Any, is_scaled: bool) -> None:
    kernel = layers.Dense(8, "relu", name="first")
    model = keras.Sequential([keras.Input((3,)), *([scaled()] if is_scaled else []), kernel, layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-4)
    begun = watch(model)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            error = tf.nn.sigmoid_cross_entropy_with_logits(y, tf.tanh(model(x)))
            loss = tf.reduce_mean(error)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for i in range(120):
        rows = np.arange(i, i + 64) % 256
        step(TABLE[rows], LABELS[rows])
    told = [one for one in diagnose(read(begun)).findings() if one.title.startswith("Column 1 of the input")]
    assert len(told) == (not is_scaled)
    title = "Column 1 of the input is over 1,000 times as wide as 2 others"
    for one in told:
        assert one.title == f"{title}, and {model.name}/first gets them unscaled"
        assert (one.kind, one.severity) == ("loss_plateau", "warning")


def spoilt() -> np.ndarray:
    """Columns scaled by statistics among which a mark for a missing value was counted."""
    marked = RANDOM.normal(size=(256, 4))
    marked[RANDOM.uniform(size=marked.shape) < 0.03] = 9999.0
    mean, deviation = marked.mean(axis=0), marked.std(axis=0)
    return ((np.where(marked == 9999.0, mean, marked) - mean) / deviation).astype(np.float32)


@pytest.mark.parametrize(
    ("x", "is_told"),
    [
        (spoilt(), True),
        (RANDOM.normal(size=(256, 4)).astype(np.float32), False),
        (RANDOM.uniform(size=(256, 4)).astype(np.float32), False),
        ((0.03 * RANDOM.normal(size=(256, 4))).astype(np.float32), False),
    ],
    ids=["spoilt", "scaled", "within 0 and 1", "small, about 0"],
)
def test_an_input_that_hardly_varies_beside_its_mean(watch: Any, read: Any, x: Any, is_told: bool) -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu", name="first"), layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy")
    begun = watch(model)
    model.fit(x, LABELS, batch_size=32, epochs=20, verbose=0)
    told = [one for one in diagnose(read(begun)).findings() if one.title.startswith("The input hardly varies")]
    assert len(told) == is_told
    for one in told:
        assert "first gets it so: its numbers lie about -0.1" in one.title
        assert one.hypotheses[0].cause == "The inputs are scaled by the wrong mean and spread"
        assert (one.kind, one.severity) == ("loss_plateau", "warning")
