"""Targets that the data and the loss both move by a step: told; those that are moved once are not."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.protocol import TWICE_PLACE
from tests.hook.diagnosis import diagnose
from tests.hook.test_leakage import leaked
from tests.hook.test_peeking import WORDS, model_of

CAPTURE = ("gradient", "input", "operation")
pytestmark = pytest.mark.rows
X, Y = WORDS[:, :-1].astype(np.int32), WORDS[:, 1:].astype(np.int32)
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def moved(y, p):
    return LOSS(y[:, 1:], p[:, :-1])


def moved_by_hand(y, p):
    labels = tf.cast(y[:, 1:], tf.int32)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=p[:, : p.shape[1] - 1]))


def cut(y, p):
    return LOSS(y[:, 1:], p[:, 1:])


def loop(watch, loss_of, x, y, n_steps):
    model, optimizer = model_of("recurrent", sees=False), keras.optimizers.Adam(0.01)
    watched = watch(model, budget=0)

    @tf.function
    def step(words, following):
        with tf.GradientTape() as tape:
            loss = loss_of(following, model(words, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for i in range(n_steps):
        rows = slice(i % 10 * 32, i % 10 * 32 + 32)
        step(tf.constant(x[rows]), tf.constant(y[rows]))
    return watched


@pytest.mark.parametrize("loss_of", [moved, moved_by_hand])
def test_a_loop(watch, read, loss_of):
    recording = read(loop(watch, loss_of, X, Y, 40))
    assert set(leaked(recording)) == {float(TWICE_PLACE)}
    (found,) = [one for one in diagnose(recording).findings() if "shifted twice" in one.title]
    assert found.source["code"].startswith(("return LOSS(y[:, 1:]", "labels = tf.cast(y[:, 1:]"))


def test_fit(watch, read):
    model = model_of("recurrent", sees=False)
    model.compile("adam", moved)
    watched = watch(model, budget=0)
    model.fit(X, Y, batch_size=32, epochs=1, verbose=0)
    assert set(leaked(read(watched))) == {float(TWICE_PLACE)}


@pytest.mark.parametrize(("loss_of", "x", "y"), [(moved, X, X), (cut, X, Y), (LOSS, X, Y)], ids=["once", "cut", "data"])
def test_targets_that_are_moved_once(watch, read, loss_of, x, y):
    assert TWICE_PLACE not in leaked(read(loop(watch, loss_of, x, y, 5)))
