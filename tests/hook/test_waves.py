"""Sines of sums of sines whose initial weights are too large: told by the weights, with the line of the sine."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, (1024, 2)).astype(np.float32)
Y = RANDOM.standard_normal((1024, 1)).astype(np.float32)
TURNS = 30.0


class Sine(layers.Layer):
    """sin(30 (x W + b)), with W from -bound to bound."""

    def __init__(self, units, bound):
        super().__init__()
        self.units, self.bound = units, bound

    def build(self, shape):
        initializer = keras.initializers.RandomUniform(-self.bound, self.bound)
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer=initializer, name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        return tf.sin(TURNS * (tf.matmul(x, self.kernel) + self.bias))  # Sine


def network(bound):
    return [Sine(32, 0.5), Sine(32, bound), layers.Dense(1)]


def by_lambda(initializer):
    hidden = layers.Dense(32, kernel_initializer=initializer, name="hidden")
    return [
        layers.Dense(32),
        layers.Lambda(lambda x: tf.sin(TURNS * x)),
        hidden,
        layers.Lambda(lambda x: tf.sin(TURNS * x)),
        layers.Dense(1),
    ]


def fit(watch, stack, n_epochs=4):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((2,)), *stack], name="net")
    model.compile(keras.optimizers.Adam(1e-4), "mse")
    watched = watch(model)
    model.fit(X, Y, batch_size=32, epochs=n_epochs, verbose=0)
    return watched


def told(watched, read):
    return [one for one in diagnose(read(watched)).findings() if "a sine" in one.title]


def test_a_sine_that_turns_too_fast(watch, read):
    bound = (6 / 32) ** 0.5
    (found,) = told(fit(watch, network(bound)), read)
    line = find_line("Sine", sys.modules[__name__])
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.hypotheses[0].cause == f"The initial weights are too large for a sine (test_waves.py:{line})"
    assert "/ 30" in found.hypotheses[0].code


def test_the_size_of_the_argument_is_told(watch, read):
    (found,) = told(fit(watch, by_lambda("glorot_uniform")), read)
    spread = TURNS * (2 / 64) ** 0.5 * 32**0.5 / 2**0.5
    assert found.title.startswith("The initial weights of net/hidden are too large for a sine")
    said = float(found.title.rpartition("varies by ")[2].split()[0])
    assert said == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize(
    "stack",
    [
        network((6 / 32) ** 0.5 / TURNS),
        by_lambda(keras.initializers.RandomUniform(-0.014, 0.014)),
        [layers.Dense(64), layers.Lambda(lambda x: tf.sin(TURNS * x)), layers.Dense(1)],
    ],
    ids=["as it should be", "in another layer", "one layer of waves"],
)
def test_others_are_not_told(watch, read, stack):
    assert told(fit(watch, stack), read) == []


def test_what_is_found_is_in_the_table(watch, read):
    (found,) = found_in(read(fit(watch, network(0.4), n_epochs=1)))
    assert (found["type"], found["turns"]) == ("Sin", TURNS)
    assert found["layer"].startswith("net/sine_")
