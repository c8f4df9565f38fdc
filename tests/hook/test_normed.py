"""Norms that are taken of a whole batch, or of each column of it: told with their line; others are not."""

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


def test_it_is_told_while_little_is_learned(watch, read):
    findings = diagnose(read(train(watch, scaled, 150))).findings()
    (found,) = [one for one in findings if "norm" in one.title]
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    line = find_line("scaled", sys.modules[__name__])
    assert found.hypotheses[0].cause == f"The axis of a norm is missing (test_normed.py:{line})"
