"""The least of numbers that a mask has made 0 is told with its line; the least of others is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(16, 3)).astype(np.float32)
LABELS = np.arange(16) % 4


def between(a: Any) -> Any:
    return tf.maximum(2.0 - 2.0 * tf.matmul(a, a, transpose_b=True), 0.0)


def root_between(a: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(a[:, None] - a[None]), axis=-1) + 1e-6)


def multiplied(a: Any, same: Any) -> Any:
    return tf.reduce_min(between(a) * (1.0 - tf.cast(same, tf.float32)), axis=1)  # multiplied


def multiplied_by_others(a: Any, same: Any) -> Any:
    return tf.reduce_min(tf.cast(tf.logical_not(same), tf.float32) * root_between(a), axis=1)  # multiplied_by_others


def chosen(a: Any, same: Any) -> Any:
    distance = root_between(a)
    return tf.reduce_min(tf.where(same, tf.zeros_like(distance), distance), axis=1)  # chosen


def moved_away(a: Any, same: Any) -> Any:
    return tf.reduce_min(root_between(a) + 1e6 * tf.cast(same, tf.float32), axis=1)


def chosen_far_away(a: Any, same: Any) -> Any:
    return tf.reduce_min(tf.where(same, 1e6, between(a)), axis=1)


def largest(a: Any, same: Any) -> Any:
    return -tf.reduce_max(between(a) * tf.cast(same, tf.float32), axis=1)


def of_both_signs(a: Any, same: Any) -> Any:
    return tf.reduce_min(tf.matmul(a, a, transpose_b=True) * tf.cast(same, tf.float32), axis=1)


def weighed(a: Any, same: Any) -> Any:
    """By what is learned, a comparison of it among the factors."""
    is_near = tf.cast(between(a) < 1.0, tf.float32)
    return tf.reduce_min(between(a) * (2.0 - is_near), axis=1) + 0.0 * tf.cast(same[:, 0], tf.float32)


TOLD = [multiplied, multiplied_by_others, chosen]
NOT_TOLD = [moved_away, chosen_far_away, largest, of_both_signs, weighed]


def train(watch: Any, nearest_of: Callable[..., Any], n_steps: int = 2) -> Any:
    model = keras.Sequential([keras.Input((3,)), layers.Dense(8, "tanh"), layers.Dense(4), layers.UnitNormalization()])
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(model, capture=("gradient", "operation"))

    @tf.function
    def step(x: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            a = model(x)
            nearest = nearest_of(a, labels[:, None] == labels[None])
            loss = tf.reduce_mean(tf.nn.relu(0.3 - nearest)) + tf.reduce_mean(tf.square(a - x[:, :1]))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        step(tf.constant(X), tf.constant(LABELS))
    return watched


@pytest.mark.parametrize("nearest_of", TOLD)
def test_the_line_is_named(watch: Any, read: Any, nearest_of: Any) -> None:
    (found,) = found_in(read(train(watch, nearest_of)))
    assert (found["type"], found["masked"]) == ("Min", "SelectV2" if nearest_of is chosen else "Mul")
    assert found["source"]["line"] == find_line(nearest_of.__name__, sys.modules[__name__])


@pytest.mark.parametrize("nearest_of", NOT_TOLD)
def test_others_are_not(watch: Any, read: Any, nearest_of: Any) -> None:
    assert found_in(read(train(watch, nearest_of))) == []


def test_it_is_told_with_its_cause(watch: Any, read: Any) -> None:
    (told,) = diagnose(read(train(watch, multiplied, 150))).findings()
    assert told.hypotheses[0].cause.startswith("The masked entries win the minimum (test_least.py:")
