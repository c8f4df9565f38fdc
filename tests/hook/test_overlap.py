"""Overlaps with masks that a loss makes small: told with their line; 1 less them, and means by weights, are not."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient", "operation")
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(16, 4)).astype(np.float32)
Y = (RANDOM.random((16, 6)) < 0.4).astype(np.float32)


def dice(y: Any, p: Any) -> Any:
    shared = tf.reduce_sum(y * p, axis=1)
    return (2.0 * shared + 1.0) / (tf.reduce_sum(y, axis=1) + tf.reduce_sum(p, axis=1) + 1.0)  # dice


def iou(y: Any, p: Any) -> Any:
    shared = tf.reduce_sum(y * p)
    return shared / (tf.reduce_sum(y + p) - shared + 1e-7)  # iou


def tversky(y: Any, p: Any) -> Any:
    shared, missed, more = (tf.reduce_sum(one) for one in (y * p, y * (1.0 - p), (1.0 - y) * p))
    return tf.math.divide_no_nan(shared, shared + 0.7 * missed + 0.3 * more)  # tversky


def wrong(y: Any, p: Any) -> Any:
    shared, more = tf.reduce_sum(y * p), tf.reduce_sum((1.0 - y) * p)
    return more / (more + shared + 1e-6)


def crossentropy(y: Any, p: Any) -> Any:
    return tf.reduce_mean(keras.losses.binary_crossentropy(y, p))


def cost(y: Any, p: Any) -> Any:
    return tf.reduce_sum(y * p) / tf.reduce_sum(p)


SMALL: dict[str, tuple[Any, str]] = {
    "dice": (lambda y, p: tf.reduce_mean(dice(y, p)), "dice"),
    "its logarithm, in Keras": (lambda y, p: tf.math.log(dice(y, p)), "dice"),
    "iou": (iou, "iou"),
    "tversky, beside another": (lambda y, p: crossentropy(y, p) + 0.5 * tversky(y, p), "tversky"),
}
LARGE: dict[str, Any] = {
    "1 less": lambda y, p: 1.0 - tf.reduce_mean(dice(y, p)),
    "negative": lambda y, p: -iou(y, p),
    "of its logarithm": lambda y, p: -tf.math.log(iou(y, p)),
    "a power of what is left": lambda y, p: tf.pow(1.0 - tversky(y, p), 0.75),
    "beside another": lambda y, p: crossentropy(y, p) - tf.math.log(dice(y, p)),
    "a mean that is weighed": cost,
    "of what is wrong": wrong,
    "beside what is to agree": lambda y, p: 1.0 - dice(y[:, :3], p[:, :3]) + 0.2 * iou(y[:, 3:], p[:, 3:]),
}


def count(y: Any, p: Any) -> Any:
    """A mean of what is not met, over how often that is so."""
    missed = y * tf.nn.relu(0.9 - p)
    return tf.reduce_sum(missed) / tf.maximum(tf.reduce_sum(tf.cast(missed > 1e-9, tf.float32)), 1.0)


def test_a_mean_over_what_is_counted(watch: Any, read: Any) -> None:
    assert [one for one in found_in(read(fit(watch, count))) if "overlaps" in one] == []


def fit(watch: Any, loss: Any) -> Any:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, "sigmoid")])
    model.compile(keras.optimizers.SGD(0.01), loss)
    watched = watch(model)
    model.fit(X, Y, batch_size=8, verbose=0)
    return watched


@pytest.mark.parametrize(("loss", "marker"), SMALL.values(), ids=SMALL)
def test_what_is_made_small(watch: Any, read: Any, loss: Any, marker: str) -> None:
    (found,) = [one for one in found_in(read(fit(watch, loss))) if "overlaps" in one]
    assert found["source"]["line"] == find_line(marker, sys.modules[__name__])


@pytest.mark.parametrize("loss", LARGE.values(), ids=LARGE)
def test_what_is_made_large(watch: Any, read: Any, loss: Any) -> None:
    assert [one for one in found_in(read(fit(watch, loss))) if "overlaps" in one] == []


def test_gradients_that_are_turned_round(watch: Any, read: Any) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, "sigmoid")])
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = iou(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply([-one for one in gradients], model.trainable_variables)

    for _ in range(3):
        step(tf.constant(X), tf.constant(Y))
    assert [one for one in found_in(read(watched)) if "overlaps" in one] == []
