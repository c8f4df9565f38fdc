"""Derivatives of several columns that are added up: told where their sum meets each column."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


T = np.random.default_rng(0).uniform(0, 1, (32, 1)).astype(np.float32)


def at_once(model, t):
    with tf.GradientTape() as inner:
        inner.watch(t)
        y = tf.tanh(model(t))
    return inner.gradient(y, t) - 0.5 * y  # at_once


def each(model, t):
    with tf.GradientTape(persistent=True) as inner:
        inner.watch(t)
        y = model(t)
        columns = tf.unstack(y, axis=1)
    return tf.concat([inner.gradient(column, t) for column in columns], 1) - y


def by_jacobian(model, t):
    with tf.GradientTape() as inner:
        inner.watch(t)
        y = model(t)
    return inner.batch_jacobian(y, t)[..., 0] - y


def of_one(model, t):
    with tf.GradientTape() as inner:
        inner.watch(t)
        y = model(t)[:, :1]
    return inner.gradient(y, t) - y


def of_one_against_all(model, t):
    with tf.GradientTape() as inner:
        inner.watch(t)
        y = model(t)
        first = y[:, :1]
    return inner.gradient(first, t) - y


def train(watch, residual_of, n_steps=2, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((1,)), layers.Dense(8, activation="tanh"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(1e-4)
    watched = watch(model, capture=("gradient", "operation"))

    @tf.function(**options)
    def step(t):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(residual_of(model, t)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(
            (one, variable)
            for one, variable in zip(gradients, model.trainable_variables, strict=True)
            if one is not None
        )

    for _ in range(n_steps):
        step(tf.constant(T))
    return watched


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
def test_the_line_is_named(watch, read, options):
    (found,) = found_in(read(train(watch, at_once, **options)))
    assert found["columns"] == 3
    assert found["source"]["line"] == find_line("at_once", sys.modules[__name__])


@pytest.mark.parametrize("residual_of", [each, by_jacobian, of_one, of_one_against_all])
def test_others_are_not_told(watch, read, residual_of):
    assert not [one for one in found_in(read(train(watch, residual_of))) if "columns" in one]


def test_it_is_told_with_its_cause(watch, read):
    findings = diagnose(read(train(watch, at_once, 120))).findings()
    (found,) = [one for one in findings if "derivatives" in one.title]
    line = find_line("at_once", sys.modules[__name__])
    assert (
        found.hypotheses[0].cause
        == f"`tape.gradient` of 3 columns is the gradient of their sum (test_derived.py:{line})"
    )
