"""Norms and dot products that are taken of a whole batch, or of each column of it: told with their line; no others."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


RANDOM = np.random.default_rng(0)
A, B = (RANDOM.standard_normal((256, 6)).astype(np.float32) for _ in range(2))
SAME = RANDOM.integers(0, 2, 256).astype(np.float32)
SIZE = 16


def scaled(a, b):
    a, b = tf.math.l2_normalize(a), tf.math.l2_normalize(b)  # scaled
    return tf.reduce_sum(a * b, axis=1)


def scaled_by_columns(a, b):
    a, b = tf.math.l2_normalize(a, axis=0), tf.math.l2_normalize(b, axis=0)  # scaled_by_columns
    return tf.reduce_sum(a * b, axis=-1)


def all_similar(a, b):
    a, b = tf.math.l2_normalize(a, 0), tf.math.l2_normalize(b, 0)  # all_similar
    return tf.reduce_mean(tf.matmul(a, b, transpose_b=True), axis=1)


def distance(a, b):
    return tf.norm(a - b) + tf.reduce_sum(0.0 * a, axis=1)  # distance


def root(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b)) + 1e-6) * tf.reduce_mean(a, axis=1)  # root


def along_both(a, b):
    product = tf.tensordot(a, b, 2)  # along_both
    return product + a[:, :1] * 0.1


def without_an_axis(a, b):
    product = tf.reduce_sum(a * b)  # without_an_axis
    return 2.0 * product + tf.reduce_mean(a, axis=1, keepdims=True)


SICK = {
    "scaled": (scaled, "all"),
    "scaled_by_columns": (scaled_by_columns, "column"),
    "all_similar": (all_similar, "column"),
    "distance": (distance, "all"),
    "root": (root, "all"),
}
WELL = {
    "of each sample": lambda a, b: tf.reduce_sum(tf.math.l2_normalize(a, 1) * tf.math.l2_normalize(b, 1), axis=1),
    "a distance of each": lambda a, b: tf.norm(a - b + 1e-6, axis=1),
    "a share of the whole": lambda a, b: tf.norm(a - b) / tf.norm(b) + tf.reduce_mean(a * 0.0),
    "columns against columns": lambda a, b: tf.reduce_mean(
        tf.matmul(tf.math.l2_normalize(a, 0), tf.math.l2_normalize(b, 0), transpose_a=True)
    ),
    "a layer": lambda a, b: tf.reduce_sum(layers.UnitNormalization()(a) * b, axis=1),
    "a batch normalised": lambda a, b: tf.reduce_mean(
        (a - tf.reduce_mean(a, 0)) / tf.math.reduce_std(a, 0) * b, axis=1
    ),
}


DOTTED = {"along_both": along_both, "without_an_axis": without_an_axis}
DOTTED_WELL = {
    "of each sample": lambda a, b: tf.reduce_sum(a * b, axis=1) + a[:, 0],
    "along one axis": lambda a, b: tf.reduce_mean(tf.tensordot(a, b, [[1], [1]]) + a[:, :1], axis=1),
    "a product with weights": lambda a, b: tf.tensordot(a, tf.ones((4,)), 1) + b[:, 0],
    "a squared length": lambda a, b: tf.reduce_sum(a * a) * 1e-3 + a[:, 0],
    "what counts, by a mask": lambda a, b: a[:, 0] - tf.reduce_sum(a * tf.cast(tf.abs(b) > 1.0, tf.float32)) / 64.0,
}


def train(watch, compare, n_steps=2, **options):
    keras.utils.set_random_seed(0)
    encoder = keras.Sequential([keras.Input((6,)), layers.Dense(12, activation="relu"), layers.Dense(4)])
    optimizer = keras.optimizers.SGD(1e-4)
    watched = watch(encoder, capture=("gradient", "operation"))

    @tf.function(**options)
    def step(a, b, same):
        with tf.GradientTape() as tape:
            found = compare(encoder(a, training=True), encoder(b, training=True))
            loss = tf.reduce_mean(tf.square(same - found)) + 1.0
        gradients = tape.gradient(loss, encoder.trainable_variables)
        optimizer.apply_gradients(zip(gradients, encoder.trainable_variables, strict=True))
        return loss

    for i in range(n_steps):
        rows = slice(i * SIZE % 256, i * SIZE % 256 + SIZE)
        step(*(tf.constant(one[rows]) for one in (A, B, SAME)))
    return watched


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize("marker", SICK)
def test_the_norm_is_named(watch, read, marker, options):
    compare, squares = SICK[marker]
    found = found_in(read(train(watch, compare, **options)))
    assert {one["squares"] for one in found} == {squares}
    assert {one["source"]["line"] for one in found} == {find_line(marker, sys.modules[__name__])}


@pytest.mark.parametrize("compare", WELL.values(), ids=WELL)
def test_others_are_not(watch, read, compare):
    assert found_in(read(train(watch, compare))) == []


class Compared(keras.Model):
    """What one encoder makes of two inputs, compared."""

    def __init__(self, compare):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(12, activation="relu"), layers.Dense(4)])
        self.compare = compare

    def call(self, pair):
        return tf.reshape(self.compare(self.encoder(pair[0]), self.encoder(pair[1])), (-1, 1))


def fit(watch, compare, **options):
    keras.utils.set_random_seed(0)
    model = Compared(compare)
    model.compile("sgd", "mse", **options)
    watched = watch(model, capture=("gradient", "operation", "input"))
    model.fit((A[:32], B[:32]), SAME[:32], batch_size=SIZE, verbose=0)
    return watched


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=["graph", "jit", "eager"])
@pytest.mark.parametrize("marker", DOTTED)
def test_the_dot_product_is_named(watch, read, marker, options):
    (found,) = found_in(read(fit(watch, DOTTED[marker], **options)))
    assert (found["dotted"], found["source"]["line"]) == (True, find_line(marker, sys.modules[__name__]))


@pytest.mark.parametrize("compare", DOTTED_WELL.values(), ids=DOTTED_WELL)
def test_other_products_are_not(watch, read, compare):
    assert not [one for one in found_in(read(fit(watch, compare))) if "dotted" in one]


def test_a_product_of_the_whole_in_a_loss_is_not(watch, read):
    assert found_in(read(train(watch, lambda a, b: 1e-3 * tf.reduce_sum(a * b) + tf.reduce_mean(a, axis=1)))) == []


def of_each(a, b):
    return keras.ops.sum(a * b, axis=1, keepdims=True)


def of_all(a, b):
    return keras.ops.tensordot(a, b, 2)  # a factorisation


class Ratings(keras.Model):
    """Users and what they are shown, of a matrix factorisation with biases."""

    def __init__(self, multiply):
        super().__init__()
        self.users, self.user_biases = layers.Embedding(30, 4), layers.Embedding(30, 1)
        self.items, self.item_biases = layers.Embedding(20, 4), layers.Embedding(20, 1)
        self.multiply = multiply

    def call(self, ids):
        product = self.multiply(self.users(ids[:, 0]), self.items(ids[:, 1]))
        return keras.ops.sigmoid(product + self.user_biases(ids[:, 0]) + self.item_biases(ids[:, 1]))


@pytest.mark.parametrize("n_axes", [1, 2])
def test_a_factorisation_in_fit(watch, read, n_axes):
    keras.utils.set_random_seed(0)
    model = Ratings(of_all if n_axes == 2 else of_each)
    model.compile("adam", "binary_crossentropy")
    ids = np.stack([RANDOM.integers(0, 30, 256), RANDOM.integers(0, 20, 256)], 1)
    watched = watch(model, capture=("gradient", "operation", "input"))
    model.fit(ids, RANDOM.random(256), batch_size=16, epochs=10, verbose=0)
    found = diagnose(read(watched)).findings()
    titles = [one.title for one in found if "dot product" in one.title]
    line = find_line("a factorisation", sys.modules[__name__])
    told = f"A dot product is summed over the whole batch instead of per sample (test_normed.py:{line})"
    assert titles == ([told] if n_axes == 2 else [])


def test_it_is_told_while_little_is_learned(watch, read):
    findings = diagnose(read(train(watch, scaled, 150))).findings()
    (found,) = [one for one in findings if "norm" in one.title]
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    line = find_line("scaled", sys.modules[__name__])
    assert found.hypotheses[0].cause == f"The axis of a norm is missing (test_normed.py:{line})"
