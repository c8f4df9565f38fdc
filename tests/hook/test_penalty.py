"""Regularizers that a loop's loss leaves out: told; those that are added, or in `fit`, are not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.slips.graph import penalty as penalties
from tests.hook.diagnosis import found_in

CAPTURE = ("gradient", "operation")
X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
L1, L2 = keras.regularizers.L1(0.1), keras.regularizers.L2(0.1)


def build(first: Any, second: Any) -> Any:
    hidden = layers.Dense(8, "relu", kernel_regularizer=first, name="hidden")
    return keras.Sequential([keras.Input((4,)), hidden, layers.Dense(1, kernel_regularizer=second, name="out")])


@pytest.mark.parametrize(
    ("penalty", "regularizers", "n_left_out"),
    [
        ("none", (L2, L1), 2),
        ("none", (None, L1), 1),
        ("none", (None, None), 0),
        ("losses", (L2, L1), 0),
        ("by hand", (L2, None), 0),
    ],
)
def test_a_loop_and_its_penalties(
    watch: Any, read: Any, penalty: str, regularizers: tuple[Any, Any], n_left_out: int
) -> None:
    model = build(*regularizers)
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - 1.0))
            if penalty == "losses":
                loss += tf.add_n(model.losses)
            if penalty == "by hand":
                loss += 0.1 * tf.reduce_sum(tf.square(model.layers[0].kernel))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(3):
        step(X)
    found = [one for one in found_in(read(watched)) if "unpenalised" in one]
    assert [one["unpenalised"] for one in found] == [n_left_out] * (n_left_out > 0)
    assert all(one["name"].endswith(("hidden/kernel", "out/kernel")) for one in found)


def test_fit_adds_them(watch: Any, read: Any) -> None:
    model = build(L2, L1)
    model.compile("sgd", "mse")
    watched = watch(model)
    model.fit(X, X[:, :1], verbose=0)
    assert [one for one in found_in(read(watched)) if "unpenalised" in one] == []


class Sampling(layers.Layer):
    """A code of two means and two variances; its divergence is added to the loss."""

    def call(self, given: Any) -> Any:
        mean, scale = given[:, :2], given[:, 2:]
        self.add_loss(-0.5 * tf.reduce_mean(1.0 + scale - tf.square(mean) - tf.exp(scale)))
        return mean + tf.exp(0.5 * scale) * tf.random.normal(tf.shape(mean))


def autoencode() -> Any:
    hidden = layers.Dense(8, "relu", activity_regularizer=L1, name="hidden")
    return keras.Sequential(
        [keras.Input((4,)), hidden, layers.Dense(4), Sampling(name="sampling"), layers.Dense(4, name="out")]
    )


@pytest.mark.parametrize(
    ("penalty", "n_left_out"),
    [("none", 2), ("losses", 0), ("by hand", 0), ("some of them", 0), ("gradients of their own", 0), ("fit", 0)],
)
def test_what_layers_add(watch: Any, read: Any, monkeypatch: pytest.MonkeyPatch, penalty: str, n_left_out: int) -> None:
    monkeypatch.setattr(penalties, "nodes_of_type", lambda *_: ())  # this file asks for `losses`
    model = autoencode()
    optimizer = keras.optimizers.SGD(0.01)
    code = keras.Model(model.inputs, model.layers[1].output)
    watched = watch(model)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - x))
            if penalty in ("losses", "some of them"):
                loss += sum(model.losses[: 1 if penalty == "some of them" else None])
            if penalty == "by hand":
                loss += 0.01 * tf.reduce_mean(tf.square(code(x)))
            others = sum(model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        if penalty == "gradients of their own":
            more = tape.gradient(others, model.trainable_variables)
            pairs = zip(gradients, more, strict=True)
            gradients = [one if other is None else one + other for one, other in pairs]
        optimizer.apply(gradients, model.trainable_variables)

    if penalty == "fit":
        model.compile(optimizer, "mse")
        model.fit(X, X, verbose=0)
    for _ in range(3 * (penalty != "fit")):
        step(X)
    found = [one for one in found_in(read(watched)) if "unadded" in one]
    assert [one["unadded"] for one in found] == [n_left_out] * (n_left_out > 0)
    assert all(one["layer"].endswith(("hidden", "sampling")) for one in found)


def test_a_file_that_asks_for_them_may_add_them_elsewhere(watch: Any, read: Any) -> None:
    model, optimizer = autoencode(), keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(X)
    assert [one for one in found_in(read(watched)) if "unadded" in one] == []


def test_what_another_network_adds(watch: Any, read: Any) -> None:
    maker, judge = autoencode(), build(None, None)
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(maker, judge)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(judge(x)) - tf.reduce_mean(judge(maker(x)))
        optimizer.apply(tape.gradient(loss, judge.trainable_variables), judge.trainable_variables)

    for _ in range(3):
        step(X)
    assert [one for one in found_in(read(watched)) if "unadded" in one] == []
