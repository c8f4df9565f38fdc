"""A sequence that was read backwards and not turned round again, where it is joined with another; and where not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers, ops

from tests.hook.diagnosis import diagnose, found_in

CAPTURE = ("gradient", "operation")

X = np.random.default_rng(0).normal(size=(192, 9, 3)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(192, 9, 1)).astype(np.float32)


def onward_and_back(x: Any, kind: type = layers.GRU, **options: Any) -> Any:
    return kind(4, return_sequences=True, name="onward")(x), kind(
        4, return_sequences=True, go_backwards=True, name="back", **options
    )(x)


def beside(x: Any) -> Any:
    return layers.Concatenate()(onward_and_back(x))


def added(x: Any) -> Any:
    return layers.Add()(onward_and_back(layers.Dense(4)(x), layers.LSTM))


def beside_its_input(x: Any) -> Any:
    x = layers.Dense(4)(x)
    return layers.Add()([x, layers.LayerNormalization()(layers.Dense(4)(onward_and_back(x, layers.SimpleRNN)[1]))])


def upon_another(x: Any) -> Any:
    return beside(layers.Bidirectional(layers.GRU(4, return_sequences=True))(x))


TOLD = [beside, added, beside_its_input, upon_another]


def both_ways(x: Any) -> Any:
    x = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(x)
    return layers.Bidirectional(layers.GRU(4, return_sequences=True), merge_mode="sum")(x)


def turned(x: Any) -> Any:
    onward, back = onward_and_back(x)
    return layers.Concatenate()([onward, ops.flip(back, axis=1)])


def alone(x: Any) -> Any:
    return layers.Dropout(0.1)(onward_and_back(x)[1])


def last_of_both(x: Any) -> Any:
    """The last that is read from either end has seen all of it."""
    last = layers.Concatenate()(onward_and_back(x))[:, -1]
    return layers.RepeatVector(9)(last)


def most_of_both(x: Any) -> Any:
    return layers.RepeatVector(9)(
        layers.GlobalMaxPooling1D()(layers.Dropout(0.1)(layers.Concatenate()(onward_and_back(x))))
    )


def state_beside(x: Any) -> Any:
    state = layers.GRU(4, go_backwards=True)(x)
    return layers.Concatenate()([x, layers.RepeatVector(9)(state)])


def both_ways_upon_a_kernel(x: Any) -> Any:
    """What comes back to the kernel from both ways is added up, step by step, and is no part of the loss."""
    return layers.RepeatVector(9)(layers.Bidirectional(layers.GRU(4))(layers.Conv1D(4, 3, padding="same")(x)))


NOT_TOLD = [both_ways_upon_a_kernel, both_ways, turned, alone, last_of_both, most_of_both, state_beside]


def fit(watch: Any, between: Any, **options: Any) -> Any:
    keras.utils.set_random_seed(0)
    inputs = keras.Input((9, 3))
    model = keras.Model(inputs, layers.Dense(1, name="out")(between(inputs)))
    model.compile(optimizer=keras.optimizers.SGD(1e-4), loss="mse", **options)
    watched = watch(model)
    model.fit(X, Y, batch_size=16, epochs=10, verbose=0)
    return watched


@pytest.mark.parametrize("between", TOLD)
def test_the_layer_is_named(watch: Any, read: Any, between: Any) -> None:
    recording = read(fit(watch, between))
    (found,) = found_in(recording)
    assert (found["type"], found["layer"], found["source"]) == ("ReverseV2", "back", None)
    (finding,) = (one for one in diagnose(recording).findings() if "backwards" in one.title)
    assert (finding.kind, finding.layer, finding.first_step) == ("loss_plateau", "back", 0)


@pytest.mark.parametrize("between", NOT_TOLD)
def test_nothing_is_told(watch: Any, read: Any, between: Any) -> None:
    assert found_in(read(fit(watch, between))) == []


def test_a_tape(watch: Any, read: Any) -> None:
    inputs = keras.Input((9, 3))
    model = keras.Model(inputs, layers.Dense(1)(beside(inputs)))
    optimizer = keras.optimizers.Adam(1e-4)
    watched = watch(model)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )

    for _ in range(3):
        step(X[:16], Y[:16])
    (found,) = found_in(read(watched))
    assert found["layer"] == "back"
