"""A state that is cut between calls of one layer is told with its line; other cuts are not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers, ops

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")

X = np.random.default_rng(0).normal(size=(256, 12, 3)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(256, 1)).astype(np.float32)


class InPieces(keras.Model):
    """Reads a sequence in three pieces; ``cut`` is put on the state between them."""

    def __init__(self, cut):
        super().__init__()
        self.cut = cut
        self.cell, self.head = layers.GRU(8, return_state=True), layers.Dense(1)

    def call(self, x):
        state = tf.zeros((tf.shape(x)[0], 8))
        for piece in tf.split(x, 3, axis=1):
            out, state = self.cell(piece, initial_state=state)
            state = self.cut(state)
        return self.head(out)


class ByHand(keras.Model):
    """A recurrence of Dense layers, each normalised, in which the state of each step is cut."""

    def __init__(self):
        super().__init__()
        self.of_x, self.of_state, self.head = layers.Dense(8), layers.Dense(8), layers.Dense(1)
        self.norm = layers.LayerNormalization()

    def call(self, x):
        state = tf.zeros((tf.shape(x)[0], 8))
        for one in tf.unstack(x, axis=1)[:4]:
            out = tf.tanh(self.norm(self.of_x(one) + self.of_state(state)))
            state = ops.stop_gradient(out)  # by hand
        return self.head(out)


class OfOther(keras.Model):
    """Cuts that are meant: of a code, and of a first guess that is given to the layer once more."""

    def __init__(self):
        super().__init__()
        self.encode, self.refine, self.head = layers.Dense(3), layers.Dense(3), layers.Dense(1)
        self.norm = layers.LayerNormalization()

    def call(self, x):
        code = self.encode(x[:, 0])
        code = code + tf.stop_gradient(tf.round(code) - code)
        guess = tf.stop_gradient(self.refine(code))
        return self.head(self.norm(self.refine(guess + code)))


class Agent(keras.Model):
    """Draws what it does from its scores, and is given where that led."""

    def __init__(self):
        super().__init__()
        self.policy = layers.Dense(4)

    def call(self, x):
        state, total = x[:, 0], 0.0
        for _ in range(3):
            scores = self.policy(state)
            action = tf.random.categorical(tf.stop_gradient(scores), 1)[:, 0]
            total += tf.reduce_max(scores, axis=1, keepdims=True)
            state = state + tf.one_hot(action, 3)
        return total


def cut_state(state):
    return tf.stop_gradient(state)  # cut_state


def halve_gradient(state):
    return state * 0.5 + tf.stop_gradient(state) * 0.5


def round_state(state):
    return state + tf.stop_gradient(tf.round(4 * state) / 4 - state)


def add_noise(state):
    return tf.stop_gradient(state) + tf.random.normal(tf.shape(state))  # add_noise


def cut_beside_itself(state):
    return tf.stop_gradient(state) + 0.1 * tf.stop_gradient(tf.tanh(state))  # beside itself


def fit(watch, model, **options):
    keras.utils.set_random_seed(0)
    model.compile(keras.optimizers.SGD(1e-4), "mse", **options)
    watched = watch(model)
    model.fit(X, Y, batch_size=16, epochs=8, verbose=0)
    return watched


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["fit", "jit"])
def test_a_state_that_is_cut(watch, read, options):
    recording = read(fit(watch, InPieces(cut_state), **options))
    (found,) = found_in(recording)
    assert found["source"]["line"] == find_line("cut_state", sys.modules[__name__])
    (told,) = [one for one in diagnose(recording).findings() if "recurrence is cut" in one.title]
    assert "stop_gradient on the state" in told.hypotheses[0].cause
    assert "gru" in told.evidence["summary"]


def test_a_recurrence_of_dense_layers(watch, read):
    (found,) = found_in(read(fit(watch, ByHand())))
    assert found["source"]["line"] == find_line("by hand", sys.modules[__name__])


@pytest.mark.parametrize(("cut", "line"), [(add_noise, "add_noise"), (cut_beside_itself, "beside itself")])
def test_a_state_that_is_cut_and_added_to_what_has_no_gradient(watch, read, cut, line):
    found = found_in(read(fit(watch, InPieces(cut))))
    assert {one["source"]["line"] for one in found} == {find_line(line, sys.modules[__name__])}


@pytest.mark.parametrize("cut", [halve_gradient, round_state])
def test_a_state_that_passes_its_gradient_beside_the_cut(watch, read, cut):
    assert found_in(read(fit(watch, InPieces(cut)))) == []


class Normalising(layers.Layer):
    """As a layer of one's own does: the deviation is that from a mean that TensorFlow cuts."""

    def call(self, x):
        mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-3)


class Normalised(keras.Model):
    """One part that is called several times, in which a cut stands that nobody asked for."""

    def __init__(self):
        super().__init__()
        inner = [keras.Input((8,)), Normalising(), layers.Dense(8), Normalising(), layers.Dense(8)]
        self.of_x, self.part, self.head = layers.Dense(8), keras.Sequential(inner), layers.Dense(1)

    def call(self, x):
        return self.head(self.part(self.part(self.part(self.of_x(x[:, 0])))))


@pytest.mark.parametrize(
    "make",
    [lambda: InPieces(tf.identity), OfOther, Agent, Normalised],
    ids=["no cut", "other cuts", "drawn", "normalised"],
)
def test_other_cuts_are_not(watch, read, make):
    assert found_in(read(fit(watch, make()))) == []
