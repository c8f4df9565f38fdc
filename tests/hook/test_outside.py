"""Layers that another layer's code calls by a name from outside: told with the line of that call, and never trained."""

from __future__ import annotations

import sys
from collections import namedtuple
from dataclasses import dataclass, field
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


class Bank:
    def __init__(self) -> None:
        self.inner = {"first": layers.Dense(6, "tanh"), "second": [layers.Dense(6)]}

    def __call__(self, x: Any) -> Any:
        return self.inner["second"][0](self.inner["first"](x))


@dataclass
class Record:
    first: Any = field(default_factory=lambda: layers.Dense(6, "tanh"))

    def __call__(self, x: Any) -> Any:
        return self.first(x)


class OldModule(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(6, "tanh")

    def __call__(self, x: Any) -> Any:
        return self.first(x)


class Known(layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(6, "tanh")

    def call(self, x: Any) -> Any:
        return self.first(x)


Pair = namedtuple("Pair", "first second")


def block() -> Any:
    first = layers.Dense(6, "tanh")
    return lambda x: tf.identity(first(x))


def of_pair() -> Any:
    return Pair(layers.Dense(6, "tanh"), layers.Dense(6))


def frozen() -> Any:
    bank = Bank()
    bank.inner["first"].trainable = bank.inner["second"][0].trainable = False
    return bank


class Holding(keras.Model):
    def __init__(self, held: Any, *, is_cut: bool = False, is_used: bool = True) -> None:
        super().__init__()
        self.held = held  # what holds
        self.last = layers.Dense(1)
        self.is_cut, self.is_used = is_cut, is_used

    def call(self, x: Any) -> Any:
        if not self.is_used:
            return self.last(x)
        h = x
        for one in self.held if isinstance(self.held, (list, tuple)) else [self.held]:
            h = one(h)
        return self.last(tf.stop_gradient(h) if self.is_cut else h)


def train_holding(watch: Any, model: Any, *, more: Any = ()) -> Any:
    keras.utils.set_random_seed(0)
    model(X[:2])
    optimizer = keras.optimizers.SGD(1e-4)
    watched = watch(model)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        variables = [*model.trainable_variables, *(one for layer in more for one in layer.trainable_variables)]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    model.optimizer = optimizer
    for _ in range(160):
        step(X, Y)
    return watched


def untrained(recording: Any) -> list[Any]:
    return [found for found in diagnose(recording).findings() if found.kind == "missing_gradient"]


@pytest.mark.parametrize(
    ("make", "held"),
    [
        (Bank, "Bank"),
        (Record, "Record"),
        (OldModule, "OldModule"),
        (block, "function"),
        (lambda: [Bank(), Record()], "Bank"),
        (lambda: Bank().__call__, "Bank"),
    ],
    ids=["class", "dataclass", "module", "function", "list", "method"],
)
def test_layers_in_an_object_that_is_none_are_told(watch: Any, read: Any, make: Any, held: str) -> None:
    recording = read(train_holding(watch, Holding(make())))
    (slip,) = known_in(recording, "held")
    assert (slip["name"], slip["held"], slip["source"]["line"]) == (
        "held",
        held,
        find_line("what holds", sys.modules[__name__]),
    )
    (found,) = untrained(recording)
    of = "a function" if held == "function" else f"an object of class {held}"
    assert f"holds layers in {of}, where Keras does not find them" in found.hypotheses[0].cause


@pytest.mark.parametrize("make", [Known, of_pair, lambda: [layers.Dense(6), layers.Dense(6)], frozen])
def test_layers_that_keras_finds_or_that_are_frozen_are_not(watch: Any, read: Any, make: Any) -> None:
    recording = read(train_holding(watch, Holding(make())))
    assert known_in(recording, "held") == []
    assert untrained(recording) == []


def test_layers_that_are_no_trouble_there_are_not_told(watch: Any, read: Any) -> None:
    bank = Bank()
    given = Holding(bank)
    own = [bank.inner["first"], *bank.inner["second"]]
    assert untrained(read(train_holding(watch, given, more=own))) == []
    assert untrained(read(train_holding(watch, Holding(Bank(), is_cut=True)))) == []
    assert untrained(read(train_holding(watch, Holding(Bank(), is_used=False)))) == []


class Table:
    def __init__(self) -> None:
        self.table = tf.Variable(tf.random.stateless_normal((5, 6), (1, 2)), name="table")

    def __call__(self, x: Any) -> Any:
        return x @ self.table


def test_a_variable_in_such_an_object_is_told(watch: Any, read: Any) -> None:
    (found,) = untrained(read(train_holding(watch, Holding(Table()))))
    assert found.hypotheses[0].cause.startswith("Keras does not know of some variables")
