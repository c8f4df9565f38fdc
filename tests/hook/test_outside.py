"""Layers that another layer's code calls by a name from outside: told with the line of that call, and never trained."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, known_in

X = np.random.default_rng(0).normal(size=(64, 5)).astype(np.float32)
Y = np.sign(X[:, :1])
GLOBAL = layers.Dense(6, name="of_the_module")


class Calling(layers.Layer):
    def call(self, x: Any) -> Any:
        return tf.nn.tanh(GLOBAL(x))  # of the module


def within(name: str) -> Any:
    given = keras.Input((5,))
    tower = keras.Sequential([keras.Input((5,)), layers.Dense(6, "tanh")], name="tower")
    if name == "lambda":
        h = layers.Lambda(lambda x: tf.square(tower(x)), output_shape=(6,))(given)  # in a lambda
    elif name == "call":
        h = Calling()(given)
    elif name == "before":
        h = layers.Lambda(tf.square)(tower(given))
    else:
        tower.trainable = False
        h = layers.Lambda(lambda x: 2.0 * tower(x), output_shape=(6,))(given)
    return keras.Model(given, layers.Dense(1)(h))


def train(watch: Any, name: str) -> Any:
    keras.utils.set_random_seed(0)
    model = within(name)
    model.compile(keras.optimizers.SGD(1e-4), "mse")
    watched = watch(model)
    model.fit(X, Y, batch_size=8, epochs=20, verbose=0)
    return watched


@pytest.mark.parametrize(
    ("name", "called", "line"), [("lambda", "tower", "in a lambda"), ("call", "of_the_module", "of the module")]
)
def test_what_a_layer_calls_by_name_is_told(watch: Any, read: Any, name: str, called: str, line: str) -> None:
    recording = read(train(watch, name))
    (one,) = known_in(recording, "outside")
    assert (one["name"], one["source"]["line"]) == (called, find_line(line, sys.modules[__name__]))
    (found,) = [found for found in diagnose(recording).findings() if found.kind == "missing_gradient"]
    assert f"calls {called}, which no model holds" in found.hypotheses[0].cause
    assert called in found.title


@pytest.mark.parametrize("name", ["before", "frozen"])
def test_what_the_model_holds_or_is_frozen_is_not(watch: Any, read: Any, name: str) -> None:
    recording = read(train(watch, name))
    assert known_in(recording, "outside") == []
    assert [found for found in diagnose(recording).findings() if found.kind == "missing_gradient"] == []
