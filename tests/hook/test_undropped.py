"""Dropouts that drop nothing in a loop of one's own: known, unless the call says that it is meant."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import find_line, known_in

CAPTURE = ("gradient", "operation")
X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
T = np.random.default_rng(0).normal(size=(16, 6, 4)).astype(np.float32)


class Own(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.drop, self.out = layers.Dense(8), layers.Dropout(0.5), layers.Dense(1)

    def call(self, inputs: Any, training: bool = False) -> Any:
        return self.out(self.drop(self.hidden(inputs), training=training))


class Untold(Own):
    def call(self, inputs: Any) -> Any:  # untold
        return self.out(self.drop(self.hidden(inputs)))


class Always(Own):
    def call(self, inputs: Any) -> Any:
        return self.out(self.drop(self.hidden(inputs), training=True))


def dense(*between: layers.Layer) -> Any:
    return keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu", name="hidden"), *between, layers.Dense(1)])


def recurrent() -> Any:
    return keras.Sequential([keras.Input((6, 4)), layers.GRU(8), layers.Dropout(0.5), layers.Dense(1)])


def by_default(model: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0))  # by default
    return tape, loss


def in_training(model: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - 1.0))
    return tape, loss


def on_purpose(model: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=False) - 1.0))
    return tape, loss


def error_of(model: Any, x: Any, training: bool = False) -> Any:
    return tf.reduce_mean(tf.square(model(x, training=training) - 1.0))


def through_a_default(model: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = error_of(model, x)  # through a default
    return tape, loss


def drawn_by_hand(model: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x + tf.random.normal(tf.shape(x))) - 1.0))  # drawn by hand
    return tape, loss


@pytest.mark.parametrize("is_eager", [False, True], ids=["graph", "eager"])
@pytest.mark.parametrize(
    ("make", "x", "forward", "marker"),
    [
        (lambda: dense(layers.Dropout(0.5)), X, by_default, "by default"),
        (lambda: dense(layers.GaussianDropout(0.5)), X, by_default, "by default"),
        (Own, X, by_default, "by default"),
        (Own, X, through_a_default, "through a default"),
        (lambda: dense(layers.Dropout(0.5)), X, drawn_by_hand, "drawn by hand"),
        (recurrent, T, by_default, "by default"),
        (lambda: dense(layers.Dropout(0.5)), X, in_training, None),
        (Own, X, in_training, None),
        (lambda: dense(layers.Dropout(0.5)), X, on_purpose, None),
        (lambda: dense(layers.Dropout(0.0)), X, by_default, None),
        (lambda: dense(layers.Dropout(0.5), layers.BatchNormalization()), X, by_default, None),
        (dense, X, by_default, None),
    ],
)
def test_a_loop_and_its_dropouts(
    watch: Any, read: Any, make: Any, x: Any, forward: Any, marker: str | None, is_eager: bool
) -> None:
    model = make()
    model(x)
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    def step(x: Any) -> None:
        tape, loss = forward(model, x)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step = step if is_eager else tf.function(step)
    for _ in range(3):
        step(tf.constant(x))
    found = known_in(read(watched), "undropped")
    assert [one["undropped"] for one in found] == [1] * (marker is not None)
    if marker is not None:
        assert found[0]["source"]["line"] == find_line(marker, __import__(__name__, fromlist=["_"]))


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eager"])
@pytest.mark.parametrize(
    ("make", "is_told"),
    [
        (lambda: dense(layers.Dropout(0.5)), False),
        (Own, False),
        (Always, False),
        (Untold, True),
        (lambda: keras.Sequential([keras.Input((4,)), Untold()]), False),
    ],
    ids=["layers", "told", "always", "untold", "within a model"],
)
def test_fit_drops(watch: Any, read: Any, make: Any, is_told: bool, run_eagerly: bool) -> None:
    model = make()
    model.compile("sgd", "mse", run_eagerly=run_eagerly)
    watched = watch(model)
    model.fit(X, X[:, :1], verbose=0)
    found = known_in(read(watched), "undropped")
    assert [one.get("untold") for one in found] == [True] * is_told
    if is_told:
        assert found[0]["source"]["line"] == find_line("untold", __import__(__name__, fromlist=["_"]))
