"""Focal losses that weigh easy samples most are told with their line; those that do not, and entropies, are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient", "operation")


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(32, 5)).astype(np.float32)
Y = (X[:, :1] > 0).astype(np.float32)
CLASSES = keras.utils.to_categorical(RANDOM.integers(0, 3, 32), 3)


def within(p: Any) -> Any:
    return tf.clip_by_value(p, 1e-6, 1.0 - 1e-6)


def easy(y: Any, p: Any) -> Any:
    p = within(p)
    positive = -0.25 * y * tf.pow(p, 2.0) * tf.math.log(p)  # easy
    return positive - (1.0 - y) * tf.pow(1.0 - p, 2.0) * tf.math.log(1.0 - p)


def easy_classes(y: Any, p: Any) -> Any:
    return -tf.reduce_sum(y * tf.square(p) * tf.math.log(p + 1e-7), axis=-1)  # easy_classes


def of_the_true_class(y: Any, p: Any) -> Any:
    true = tf.where(y == 1.0, within(p), 1.0 - within(p))
    return -(true**3) * tf.math.log(true)  # of_the_true_class


def hard(y: Any, p: Any) -> Any:
    p = within(p)
    positive = -0.25 * y * tf.pow(1.0 - p, 2.0) * tf.math.log(p)
    return positive - (1.0 - y) * tf.pow(p, 2.0) * tf.math.log(1.0 - p)


def entropy(y: Any, p: Any) -> Any:
    return -tf.reduce_mean(y * tf.math.log(within(p))) + 0.1 * tf.reduce_mean(p * tf.math.log(within(p)))


def of_another(y: Any, p: Any) -> Any:
    """Targets that are sharpened."""
    target = tf.stop_gradient(tf.square(y + 0.1))
    return -target * tf.math.log(within(p))


def train(watch: Any, loss: Any, y: Any) -> Any:
    keras.utils.set_random_seed(0)
    n = y.shape[1]
    model = keras.Sequential([keras.Input((5,)), layers.Dense(n, "sigmoid" if n == 1 else "softmax")])
    model.compile(keras.optimizers.SGD(0.01), loss)
    watched = watch(model, capture=("gradient", "operation"))
    model.fit(X, y, batch_size=16, epochs=1, verbose=0)
    return watched


@pytest.mark.parametrize(
    ("loss", "y", "power"), [(easy, Y, 2.0), (easy_classes, CLASSES, 2.0), (of_the_true_class, Y, 3.0)]
)
def test_easy_samples_weigh_most(watch: Any, read: Any, loss: Callable[..., Any], y: Any, power: float) -> None:
    (found,) = [one for one in found_in(read(train(watch, loss, y))) if "focal" in one]
    assert found["focal"] == power
    assert found["source"]["line"] == find_line(loss.__name__, sys.modules[__name__])


@pytest.mark.parametrize("loss", [hard, entropy, of_another, keras.losses.BinaryFocalCrossentropy()])
def test_hard_ones_do(watch: Any, read: Any, loss: Any) -> None:
    assert found_in(read(train(watch, loss, Y))) == []


@pytest.mark.filterwarnings("ignore:In loss categorical_crossentropy")
@pytest.mark.parametrize(
    ("activation", "loss", "is_told"),
    [
        ("sigmoid", "categorical_crossentropy", True),
        (None, "categorical_crossentropy", True),
        ("sigmoid", "binary_crossentropy", False),
    ],
)
def test_a_cross_entropy_of_one_class(watch: Any, read: Any, activation: Any, loss: str, *, is_told: bool) -> None:
    model = keras.Sequential([keras.Input((5,)), layers.Dense(1, activation)])
    model.compile("sgd", loss)
    watched = watch(model, capture=("gradient", "operation"))
    model.fit(X, Y, batch_size=16, epochs=1, verbose=0)
    assert [one["sole"] for one in found_in(read(watched))] == [True] * is_told
