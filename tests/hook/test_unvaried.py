"""Draws that are the same at each step are told; those that change, and fixed ones for no batch, are not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import found_in

CAPTURE = ("gradient", "operation")
X = tf.constant(np.random.default_rng(0).normal(size=(32, 6)).astype("float32"))


def noisy(x: Any, noise: Any) -> Any:
    return x + 0.1 * noise


def timed(x: Any, t: Any) -> Any:
    return x * tf.gather(tf.linspace(1.0, 0.1, 10), t)[:, None]


DRAWS = {
    "seed": lambda x: noisy(x, tf.random.stateless_normal(tf.shape(x), seed=(1, 2))),
    "seed of Keras": lambda x: noisy(x, keras.random.normal(tf.shape(x), seed=3)),
    "range": lambda x: timed(x, tf.random.uniform((tf.shape(x)[0],), 0, 1, dtype=tf.int32)),
    "cast": lambda x: timed(x, tf.cast(tf.random.uniform((tf.shape(x)[0],)), tf.int32)),
    "noise": lambda x: noisy(x, tf.random.normal(tf.shape(x), seed=1)),
    "new seed": lambda x: noisy(x, tf.random.stateless_normal(tf.shape(x), tf.cast(x[0, :2] * 1e6, tf.int32))),
    "projection": lambda x: noisy(x, x @ tf.random.stateless_normal((6, 6), seed=(1, 2))),
    "times": lambda x: timed(x, tf.random.uniform((tf.shape(x)[0],), 0, 10, dtype=tf.int32)),
    "scaled": lambda x: timed(x, tf.cast(10.0 * tf.random.uniform((tf.shape(x)[0],)), tf.int32)),
    "one for all": lambda x: x * tf.cast(tf.random.uniform((), 0, 1, dtype=tf.int32) + 1, tf.float32),
    "mask": lambda x: noisy(x, tf.cast(tf.random.uniform(tf.shape(x)) < 0.5, tf.float32)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_in_a_step(watch: Any, read: Any, name: str) -> None:
    model = keras.Sequential([keras.Input((6,)), layers.Dense(8, "relu"), layers.Dense(6)])
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(DRAWS[name](x), training=True) - x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(2):
        step(X)
    found = [one["unvaried"] for one in found_in(read(watched)) if "unvaried" in one]
    assert found == [name.partition(" ")[0]] * (name in ("seed", "seed of Keras", "range", "cast"))
