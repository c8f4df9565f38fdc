"""Real Keras models on scikit-learn's digits: healthy ones have no finding, sick ones the right one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers, optimizers
from sklearn.datasets import load_digits

from tests.health.recorder import train

DIGITS = load_digits()
X = (DIGITS.data / 16).astype("float32")
Y = DIGITS.target.astype("int64")
IMAGES, ROWS = X.reshape(-1, 8, 8, 1), X.reshape(-1, 8, 8)
GAPS = X.copy()
GAPS[::5, 20] = np.nan

cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def squared_error(labels: Any, outputs: Any) -> Any:
    return tf.reduce_mean((tf.cast(labels, tf.float32)[:, None] - outputs) ** 2)


def mlp(n_layers: int = 2, activation: str = "relu", start: Any = "he_normal", width: int = 64) -> Any:
    hidden = [layers.Dense(width, activation, kernel_initializer=start, name=f"hidden_{i}") for i in range(n_layers)]
    return keras.Sequential([keras.Input((64,)), *hidden, layers.Dense(10, name="logits")])


def cnn() -> Any:
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )


def lstm() -> Any:
    return keras.Sequential([keras.Input((8, 8)), layers.LSTM(24), layers.Dense(10)])


class Length(layers.Layer):
    """The length of each row; its gradient at an all-zero row is 0 / 0."""

    def call(self, x: Any) -> Any:
        return tf.norm(x, axis=-1, keepdims=True)


class Patch(layers.Layer):
    """Replaces NaN by 0, too late."""

    def call(self, x: Any) -> Any:
        return tf.where(tf.math.is_nan(x), tf.zeros_like(x), x)


def with_length() -> Any:
    inputs = keras.Input((64,))
    hidden = layers.Dense(32, "relu", name="hidden")(inputs)
    # A gate that is closed for every input.
    gate = layers.Dense(8, "relu", bias_initializer=keras.initializers.Constant(-9.0), name="gate")(hidden)
    return keras.Model(inputs, layers.Dense(10, name="logits")(layers.Concatenate()([hidden, Length()(gate)])))


def patched() -> Any:
    inputs = keras.Input((64,))
    hidden = layers.Dense(32, name="second")(layers.Dense(32, name="first")(inputs))
    return keras.Model(inputs, layers.Dense(10, name="logits")(Patch()(hidden)))


def with_unused_head() -> Any:
    inputs = keras.Input((64,))
    hidden = layers.Dense(32, "relu", name="hidden")(inputs)
    return keras.Model(inputs, [layers.Dense(10, name="logits")(hidden), layers.Dense(3, name="unused")(hidden)])


def small_normal() -> Any:
    return keras.initializers.RandomNormal(stddev=0.03)


HEALTHY: dict[str, Callable[[], Any]] = {
    "MLP, Adam": lambda: train(mlp(), optimizers.Adam(1e-3), cross_entropy, (X, Y), n_steps=150),
    "MLP, Adam with a high rate": lambda: train(mlp(), optimizers.Adam(1e-2), cross_entropy, (X, Y), n_steps=150),
    "MLP, SGD with momentum": lambda: train(mlp(), optimizers.SGD(0.1, 0.9), cross_entropy, (X, Y), n_steps=150),
    "deep MLP": lambda: train(mlp(8), optimizers.Adam(1e-3), cross_entropy, (X, Y), n_steps=120),
    "CNN": lambda: train(cnn(), optimizers.Adam(3e-3), cross_entropy, (IMAGES, Y), n_steps=150),
    "LSTM": lambda: train(lstm(), optimizers.Adam(1e-2), cross_entropy, (ROWS, Y), n_steps=150),
}

SICK: dict[str, tuple[str, str | None, str, Callable[[], Any]]] = {
    "SGD that diverges": (
        "exploding_gradient",
        None,
        "learning rate is too high",
        lambda: train(mlp(), optimizers.SGD(0.5), squared_error, (16 * X, Y), n_steps=40),
    ),
    "SGD that kills every unit": (
        "zero_gradient",
        None,
        "learning rate is too high",
        lambda: train(mlp(), optimizers.SGD(10.0), cross_entropy, (X, Y), n_steps=160),
    ),
    "deep tanh with a small start": (
        "vanishing_gradient",
        "hidden_0",
        "",
        lambda: train(mlp(9, "tanh", small_normal(), 24), optimizers.SGD(0.01), cross_entropy, (X, Y), n_steps=70),
    ),
    "length of a zero vector": (
        "nonfinite_gradient",
        "gate",
        "infinite slope",
        lambda: train(with_length(), optimizers.Adam(1e-3), cross_entropy, (X, Y), n_steps=30),
    ),
    "gaps patched after two layers": (
        "nonfinite_gradient",
        "first",
        "masked too late",
        lambda: train(patched(), optimizers.Adam(1e-3), cross_entropy, (GAPS, Y), n_steps=30),
    ),
    "gaps not patched at all": (
        "nonfinite_loss",
        None,
        "inputs or labels",
        lambda: train(mlp(activation="softplus"), optimizers.Adam(1e-3), cross_entropy, (GAPS, Y), n_steps=30),
    ),
    "unused head": (
        "missing_gradient",
        "unused",
        "does not depend",
        lambda: train(
            with_unused_head(), optimizers.Adam(1e-3), lambda y, p: cross_entropy(y, p[0]), (X, Y), n_steps=30
        ),
    ),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_training_has_no_finding(name: str) -> None:
    keras.utils.set_random_seed(1)
    assert [finding.title for finding in HEALTHY[name]().findings()] == []


@pytest.mark.parametrize("name", SICK)
def test_sick_training_is_told_by_its_cause(name: str) -> None:
    keras.utils.set_random_seed(1)
    kind, layer, cause, run = SICK[name]
    findings = run().findings()
    assert [finding.kind for finding in findings] == [kind]
    assert layer is None or str(findings[0].layer).endswith(layer)
    assert cause in findings[0].hypotheses[0].cause
