"""Variances as differences of two large numbers: told with their line where only rounding is left of them."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, known_in

CAPTURE = ("gradient", "operation")
pytestmark = pytest.mark.rows


N, LENGTH = 32, 64
TITLE = "A variance is the difference of two large numbers, and nothing but rounding is left of it"


def by_squares(x):
    mean = tf.reduce_mean(x, axis=1, keepdims=True)
    return tf.reduce_mean(tf.square(x), axis=1, keepdims=True) - tf.square(mean)  # by_squares


def by_products(x):
    mean = tf.reduce_mean(x, axis=1)
    return (tf.reduce_mean(x * x, axis=1) - mean * mean)[:, None]  # by_products


def by_deviations(x):
    return tf.reduce_mean(tf.square(x - tf.reduce_mean(x, axis=1, keepdims=True)), axis=1, keepdims=True)


def of_others(x):
    return tf.reduce_mean(tf.square(x), axis=1, keepdims=True) - tf.square(tf.reduce_mean(x[:, :8], 1, keepdims=True))


class Standardised(layers.Layer):
    """Each sequence less its mean, over its deviation."""

    def __init__(self, variance_of):
        super().__init__()
        self.variance_of = variance_of

    def call(self, x):
        variance = self.variance_of(x)
        return (x - tf.reduce_mean(x, axis=1, keepdims=True)) * tf.math.rsqrt(tf.nn.relu(variance) + 1e-3)


def train(watch, variance_of, mean, n_steps=1, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [keras.Input((LENGTH,)), Standardised(variance_of), layers.Dense(8, "relu"), layers.Dense(1)]
    )
    model.compile("adam", "mse", **options)
    watched = watch(model)
    random = np.random.default_rng(0)
    x = (mean + random.normal(size=(N, LENGTH))).astype("float32")
    model.fit(x, random.normal(size=(N, 1)).astype("float32"), batch_size=N, epochs=n_steps, verbose=0)
    return watched


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize("variance_of", [by_squares, by_products])
def test_the_line_is_named(watch, read, variance_of, options):
    (found,) = known_in(read(train(watch, variance_of, 1e5, **options)), "rounded")
    assert found["source"]["line"] == find_line(variance_of.__name__, sys.modules[__name__])


@pytest.mark.parametrize("variance_of", [by_deviations, of_others])
def test_others_are_not(watch, read, variance_of):
    assert known_in(read(train(watch, variance_of, 1e5)), "rounded") == []


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize(("mean", "is_told"), [(1e5, True), (10.0, False)])
def test_it_is_told_where_nothing_is_left(watch, read, mean, is_told, options):
    findings = diagnose(read(train(watch, by_squares, mean, 130, **options))).findings()
    assert any(one.title.startswith(TITLE) for one in findings) == is_told
