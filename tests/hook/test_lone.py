"""Single numbers that are normalised by themselves are told with their layer or line; vectors are not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient", "operation")
X = np.random.default_rng(0).normal(size=(32, 6, 1)).astype(np.float32)
Y = X[:, -1]


def fit(watch, *between, loss="mse", units=1, x=X):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input(x.shape[1:]), *between, layers.Flatten(), layers.Dense(units)], name="model")
    model.compile("sgd", loss)
    watched = watch(model, capture=CAPTURE)
    model.fit(x, np.repeat(Y, units, 1), batch_size=16, verbose=0)
    return watched


def lone(recording):
    return [(one["lone"], one["layer"]) for one in found_in(recording) if "lone" in one]


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ([layers.LayerNormalization], [("mean", "model/norm")]),
        ([layers.UnitNormalization], []),  # of data: that is found in what is given
        # Keras gives a layer that builds nothing no path: its model's is told.
        ([lambda **_: layers.Conv1D(1, 2), layers.UnitNormalization], [("length", "model")]),
        ([lambda **_: layers.Conv1D(2, 2), layers.UnitNormalization], []),
        ([lambda **_: layers.Conv1D(2, 2), layers.LayerNormalization], []),
        ([lambda name: layers.LayerNormalization(axis=1, name=name)], []),
        ([layers.BatchNormalization], []),
    ],
)
def test_a_layer_that_normalises_one_number(watch, read, between, found):
    made = [make(name="norm") for make in between]
    assert lone(read(fit(watch, *made))) == found


@pytest.mark.parametrize(("units", "found"), [(1, [("length", "")]), (2, [])])
def test_a_cosine_of_one_number(watch, read, units, found):
    assert lone(read(fit(watch, loss="cosine_similarity", units=units))) == found


def test_a_cosine_in_a_loop_is_told_with_its_line(watch, read):
    model, optimizer = keras.Sequential([keras.Input((6,)), layers.Dense(1)]), keras.optimizers.SGD(0.01)
    watched = watch(model, capture=CAPTURE)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            predicted = tf.math.l2_normalize(model(x, training=True), axis=-1)  # line of the length
            loss = tf.reduce_mean(tf.square(predicted - y))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(tf.constant(X[:, :, 0]), tf.constant(Y))
    (found,) = [one for one in found_in(read(watched)) if "lone" in one]
    assert (found["lone"], found["source"]["line"]) == (
        "length",
        find_line("line of the length", sys.modules[__name__]),
    )


def test_a_penalty_of_a_gradient_of_one_number_is_none(watch, read):
    """The length of a derivative with respect to one number, which divides nothing."""
    model, optimizer = keras.Sequential([keras.Input((1,)), layers.Dense(4, "tanh"), layers.Dense(1)]), "sgd"
    optimizer = keras.optimizers.get(optimizer)
    watched = watch(model, capture=CAPTURE)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                scores = model(x)
            slope = inner.gradient(scores, x)
            length = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-12)
            loss = tf.reduce_mean(scores) + 10.0 * tf.reduce_mean(tf.square(length - 1.0))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(tf.constant(X[:, 0]))
    assert lone(read(watched)) == []
