"""A layer that is made where the model is called: named with its line, unless the model keeps it."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "activation", "input", "operation")


X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)


class Net(keras.Model):
    """Makes its hidden layer when it is called: each time, or once, to be kept, or to be called from a list."""

    def __init__(self, how):
        super().__init__()
        self.how = how
        self.hidden = None
        self.out = keras.layers.Dense(1)

    def call(self, x):
        if self.how == "each":
            h = keras.layers.Dense(5, activation="relu")(x)  # line of the call
        elif self.how == "without weights":
            h = keras.layers.Dropout(0.1)(keras.layers.Activation("tanh")(x))
        else:
            if self.hidden is None:
                self.hidden = keras.layers.Dense(5, activation="relu")
            h = self.hidden(x)
        return self.out(h)


def train(watch, how, n_steps=3, *, is_built=True):
    model, optimizer = Net(how), keras.optimizers.SGD(0.01)
    if is_built:
        model(X)
    watched = watch(model, optimizer, budget=0)
    for _ in range(n_steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(X, training=True)))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return watched


@pytest.mark.parametrize("is_built", [True, False])
def test_a_layer_that_is_made_in_each_call(watch, read, is_built):
    recording = read(train(watch, "each", is_built=is_built))
    (one,) = found_in(recording)
    assert (one["type"], one["class"]) == ("Layer", "Dense")
    assert one["source"]["line"] == find_line("line of the call", sys.modules[__name__])


def test_it_is_told_with_its_line(watch, read):
    found = diagnose(read(train(watch, "each", 120))).findings()
    (one,) = [one for one in found if "creates a new" in one.title]
    assert one.source["line"] == find_line("line of the call", sys.modules[__name__])


@pytest.mark.parametrize("how", ["without weights", "kept"])
@pytest.mark.parametrize("is_built", [True, False])
def test_a_layer_that_is_kept_or_has_nothing_to_learn(watch, read, how, is_built):
    assert found_in(read(train(watch, how, is_built=is_built))) == []


def test_a_graph_is_not_looked_at(watch, read):
    model = Net("kept")
    model.compile("sgd", "mse", jit_compile=False)
    watched = watch(model)
    model.fit(X, X[:, :1], verbose=0)
    assert found_in(read(watched)) == []
