"""Mixtures whose coordinates are joined too late: told with their line; those that are joined first are not."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient", "operation")
K, D = 3, 2
X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)


def parts(scores: Any) -> tuple[Any, Any]:
    weight = tf.nn.log_softmax(scores[:, :K])
    centre = tf.reshape(scores[:, K:], (-1, K, D))
    return weight, -0.5 * tf.square(X[:, None, :D] - centre)


def late(scores: Any) -> Any:
    weight, density = parts(scores)
    return -tf.reduce_sum(tf.reduce_logsumexp(weight[:, :, None] + density, axis=1), axis=-1)  # late


def late_and_averaged(scores: Any) -> Any:
    weight, density = parts(scores)
    return -tf.reduce_logsumexp(density + tf.expand_dims(weight, -1), axis=-2)  # late_and_averaged


def joined(scores: Any) -> Any:
    weight, density = parts(scores)
    return -tf.reduce_logsumexp(weight + tf.reduce_sum(density, axis=-1), axis=1)


def of_each_its_own(scores: Any) -> Any:
    """A mixture with weights of its own for each coordinate."""
    weight = tf.nn.log_softmax(tf.reshape(scores[:, : K * D], (-1, K, D)), axis=1)
    return -tf.reduce_logsumexp(weight + parts(scores)[1], axis=1)


@pytest.mark.parametrize("loss_of", [late, late_and_averaged, joined, of_each_its_own])
def test_mixtures(watch: Any, read: Any, loss_of: Any) -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(K + K * D)])
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(loss_of(model(x)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(3):
        step(X)
    found = [one for one in found_in(read(watched)) if "marginals" in one]
    is_late = loss_of in (late, late_and_averaged)
    assert [one["marginals"] for one in found] == [D] * is_late
    if is_late:
        assert found[0]["source"]["line"] == find_line(loss_of.__name__, sys.modules[__name__])
