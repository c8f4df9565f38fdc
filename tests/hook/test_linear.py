"""Networks without a function between their kernels are told; any function, gate or bottleneck is another matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, found_in

CAPTURE = ("gradient", "activation", "input", "operation")


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(64, 16, 3)).astype(np.float32)
Y = RANDOM.integers(0, 4, 64).astype(np.int32)


def blocks(x: Any) -> Any:
    """Convolutions with normalisations, a pooling and a dropout."""
    for width in (8, 8):
        x = layers.Conv1D(width, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
    return layers.Dense(4, activation="softmax")(layers.Dropout(0.2)(layers.GlobalAveragePooling1D()(x)))


def dense(x: Any) -> Any:
    x = layers.Dense(32)(layers.Flatten()(x))
    return layers.Dense(4, activation="softmax")(layers.LayerNormalization()(x))


def normalised_by_another_name(x: Any) -> Any:
    x = layers.Dense(32)(layers.Flatten()(x))
    return layers.Dense(4, activation="softmax")(x)


def with_a_function(x: Any) -> Any:
    x = layers.ReLU()(layers.Dense(32)(layers.Flatten()(x)))
    return layers.Dense(4, activation="softmax")(layers.Dense(16)(x))


def with_a_maximum(x: Any) -> Any:
    x = layers.MaxPooling1D()(layers.Conv1D(8, 3)(x))
    return layers.Dense(4, activation="softmax")(layers.Flatten()(x))


def with_a_gate(x: Any) -> Any:
    x = layers.Flatten()(x)
    return layers.Dense(4, activation="softmax")(layers.multiply([layers.Dense(32)(x), layers.Dense(32)(x)]))


def with_attention(x: Any) -> Any:
    x = layers.MultiHeadAttention(2, 4)(x, x)
    return layers.Dense(4, activation="softmax")(layers.GlobalAveragePooling1D()(x))


def through_a_bottleneck(x: Any) -> Any:
    return layers.Dense(4, activation="softmax")(layers.Dense(2)(layers.Flatten()(x)))


def of_one_kernel(x: Any) -> Any:
    return layers.Dense(4, activation="softmax")(layers.Flatten()(x))


def of_a_table(x: Any) -> Any:
    rows = layers.Flatten()(layers.Embedding(8, 4)(keras.ops.cast(x > 0, "int32")))
    return layers.Dense(4, activation="softmax")(layers.Dense(16)(layers.Dense(32)(rows)))


TOLD = {of_a_table: 3, blocks: 3, normalised_by_another_name: 2}
NOT_TOLD = [with_a_function, with_a_maximum, with_a_gate, with_attention, through_a_bottleneck, of_one_kernel]


def train(watch: Any, build: Callable[[Any], Any], epochs: int = 1) -> Any:
    given = keras.Input((16, 3))
    model = keras.Model(given, build(given))
    model.compile(keras.optimizers.Adam(1e-4), loss="sparse_categorical_crossentropy")
    watched = watch(model)
    model.fit(tf.constant(X), tf.constant(Y), batch_size=16, epochs=epochs, verbose=0)
    return watched


@pytest.mark.parametrize("build", TOLD)
def test_a_network_of_kernels_alone(watch: Any, read: Any, build: Callable[[Any], Any]) -> None:
    (found,) = found_in(read(train(watch, build)))
    assert found["n_kernels"] == TOLD[build]


@pytest.mark.parametrize("build", NOT_TOLD)
def test_anything_else(watch: Any, read: Any, build: Callable[[Any], Any]) -> None:
    assert found_in(read(train(watch, build))) == []


def test_it_is_told_with_its_cause(watch: Any, read: Any) -> None:
    findings = diagnose(read(train(watch, blocks, 40))).findings()
    (told,) = (one for one in findings if "up to its output it is linear" in one.title)
    assert (told.kind, told.first_step) == ("loss_plateau", 0)
    assert told.hypotheses[0].cause == "The layers have no activation function"


@pytest.mark.parametrize(("last", "is_told"), [(None, True), ("relu", False)])
def test_several_outputs_of_one_network(watch: Any, read: Any, last: str | None, is_told: bool) -> None:
    """Where one of them is bent, it is no linear network."""
    given = keras.Input((16, 3))
    h = layers.Dense(16)(layers.Dense(32)(layers.Flatten()(given)))
    outputs = [layers.Dense(4, activation="softmax", name="kind")(h), layers.Dense(1, name="size")(h)]
    outputs[1] = layers.Dense(1, name="half")(layers.Activation(last)(outputs[1]))
    model = keras.Model(given, outputs)
    model.compile("sgd", loss=["sparse_categorical_crossentropy", "mse"])
    watched = watch(model)
    model.fit(X, [Y, X[:, 0, :1]], verbose=0)
    assert len([one for one in found_in(read(watched)) if "n_kernels" in one]) == is_told
