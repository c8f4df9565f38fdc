"""Softmaxes along another axis than the classes': told with their line; those that are meant are not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, known_in

CAPTURE = ("gradient", "input", "operation")
N, TIME, CLASSES = 64, 12, 5
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, TIME, 3)).astype("float32")
LABELS = np.repeat(RANDOM.integers(0, CLASSES, (N, 1)), TIME, 1)
ONE_HOT = np.eye(CLASSES, dtype="float32")[LABELS]
HEAT = RANDOM.dirichlet(np.ones(TIME), (N, CLASSES)).transpose(0, 2, 1).astype("float32")
sparse, categorical = keras.losses.SparseCategoricalCrossentropy, keras.losses.CategoricalCrossentropy


class Function(layers.Layer):
    """A function of the user's own."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def call(self, x):
        return self.function(x)


def of_times(x):
    return tf.nn.softmax(x, axis=1)  # of_times


def by_hand(x):
    e = tf.exp(x - tf.reduce_max(x, axis=1, keepdims=True))
    return e / tf.reduce_sum(e, axis=1, keepdims=True)  # by_hand


def of_classes_by_hand(x):
    e = tf.exp(x)
    return e / tf.reduce_sum(e, axis=-1, keepdims=True)


def weighed(x):
    return tf.nn.softmax(x * tf.nn.softmax(x, axis=1))


def turned(x):
    return tf.transpose(tf.nn.softmax(tf.transpose(x, (0, 2, 1)), axis=1), (0, 2, 1))


def by_one_hot(y, p):
    return -tf.reduce_sum(tf.one_hot(tf.cast(y, tf.int32), CLASSES) * tf.math.log(p + 1e-7), axis=-1)


def of_logarithms(y, p):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(y, tf.int32), tf.nn.log_softmax(p, axis=1))  # of_log


def over_places(y, p):
    return -tf.reduce_sum(y * tf.math.log(p + 1e-7), axis=1)


def fit(watch, last, loss, y, n_steps=1, units=CLASSES):
    keras.utils.set_random_seed(0)
    last = last if isinstance(last, layers.Layer) else Function(last)
    model = keras.Sequential([keras.Input((TIME, 3)), layers.Dense(16, "relu"), layers.Dense(units), last])
    model.compile(keras.optimizers.Adam(0.01), loss)
    watched = watch(model)
    model.fit(X, y, batch_size=32, epochs=-(-n_steps // 2), verbose=0)
    return watched


@pytest.mark.parametrize(
    ("last", "loss", "y", "line"),
    [
        (of_times, sparse(), LABELS, "of_times"),
        (of_times, categorical(), ONE_HOT, "of_times"),
        (of_times, by_one_hot, LABELS, "of_times"),
        (by_hand, sparse(), LABELS, "by_hand"),
        (layers.Activation("linear"), of_logarithms, LABELS, "of_log"),
    ],
    ids=["sparse", "categorical", "one hot", "by hand", "logarithms"],
)
def test_the_line_is_named(watch, read, last, loss, y, line):
    (found,) = known_in(read(fit(watch, last, loss, y)), "crosswise")
    assert (found["crosswise"], found["axis"]) == ([-1, TIME, CLASSES], 1)
    assert found["source"]["line"] == find_line(line, sys.modules[__name__])


def test_a_layer_that_the_loss_goes_past(watch, read):
    (found,) = known_in(read(fit(watch, layers.Softmax(axis=1, name="activity"), sparse(), LABELS)), "crosswise")
    assert (found["crosswise"], found["axis"], found["bypassed"]) == ([-1, TIME, CLASSES], 1, True)
    assert "/activity" in found["name"]


@pytest.mark.parametrize(
    ("last", "loss", "y"),
    [
        (layers.Softmax(), sparse(), LABELS),
        (layers.Softmax(axis=2), categorical(), ONE_HOT),
        (of_classes_by_hand, categorical(), ONE_HOT),
        (turned, sparse(), LABELS),
        (weighed, sparse(), LABELS),
        (layers.Activation("linear"), sparse(from_logits=True), LABELS),
        (layers.Softmax(axis=1), categorical(axis=1), HEAT),
        (layers.Softmax(axis=1), over_places, HEAT),
    ],
    ids=["classes", "the last", "by hand", "turned", "an attention", "scores", "heat maps", "heat maps by hand"],
)
def test_others_are_not(watch, read, last, loss, y):
    assert known_in(read(fit(watch, last, loss, y)), "crosswise") == []


def test_it_is_told(watch, read):
    findings = diagnose(read(fit(watch, of_times, sparse(), LABELS, 130))).findings()
    (found,) = [one for one in findings if one.title.startswith("The softmax of the outputs runs over axis 1")]
    assert found.source["code"] == "return tf.nn.softmax(x, axis=1)  # of_times"
