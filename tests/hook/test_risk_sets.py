"""Risk sets of a partial likelihood: told where they hold those who had left before."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


N, WIDTH = 32, 4


def data():
    random = np.random.default_rng(0)
    x = random.normal(size=(N, WIDTH)).astype("float32")
    y = np.stack([random.exponential(np.exp(-x[:, 0])), random.random(N) < 0.7], 1).astype("float32")
    return tf.constant(x), tf.constant(y)


def likelihood(risk, event, total):
    return -tf.reduce_sum((risk - total) * event) / (tf.reduce_sum(event) + 1e-6)


def earliest_first(y, risk):
    order = tf.argsort(y[:, 0])
    risk, event = tf.gather(risk, order), tf.gather(y[:, 1], order)
    return likelihood(risk, event, tf.math.cumulative_logsumexp(risk))  # earliest_first


def latest_first_from_the_end(y, risk):
    y_sorted = tf.gather(y, tf.argsort(y[:, 0], direction="DESCENDING"))
    risk = tf.gather(risk, tf.argsort(y[:, 0], direction="DESCENDING"))
    total = tf.math.log(tf.cumsum(tf.exp(risk), reverse=True))  # latest_first_from_the_end
    return likelihood(risk, y_sorted[:, 1], total)


def one_sort(y, risk):
    order = tf.argsort(-y[:, 0], direction="DESCENDING")
    y, risk = tf.gather(y, order), tf.gather(risk, order)
    total = tf.math.log(tf.cumsum(tf.exp(risk - tf.reduce_max(risk))) + 1e-7) + tf.reduce_max(risk)  # one_sort
    return -tf.reduce_mean(y[:, 1] * (risk - total))


def turned_twice(y, risk):
    order = tf.argsort(y[:, 0], direction="DESCENDING")[::-1]
    risk, event = tf.gather(risk, order), tf.gather(y[:, 1], order)
    return likelihood(risk, event, tf.math.cumulative_logsumexp(risk))  # turned_twice


def latest_first(y, risk):
    order = tf.argsort(y[:, 0], direction="DESCENDING")
    risk, event = tf.gather(risk, order), tf.gather(y[:, 1], order)
    return likelihood(risk, event, tf.math.cumulative_logsumexp(risk))


def earliest_first_from_the_end(y, risk):
    order = tf.argsort(y[:, 0])
    risk, event = tf.gather(risk, order), tf.gather(y[:, 1], order)
    return likelihood(risk, event, tf.math.cumulative_logsumexp(risk, reverse=True))


def earliest_first_turned(y, risk):
    order = tf.reverse(tf.argsort(y[:, 0]), [0])
    risk, event = tf.gather(risk, order), tf.gather(y[:, 1], order)
    return likelihood(risk, event, tf.math.cumulative_logsumexp(risk))


def ranked(y, scores):
    """The likelihood of a ranking, the best first: what is summed up are the best that are left, and all count."""
    scores = tf.gather(scores, tf.argsort(y[:, 0], direction="DESCENDING"))
    return tf.reduce_mean(tf.math.cumulative_logsumexp(scores, reverse=True) - scores)


def sorted_before(direction):
    """A step that sorts the samples themselves."""

    def loss_of(model, x, y):
        order = tf.argsort(y[:, 0], direction=direction)
        x, y = tf.gather(x, order), tf.gather(y, order)
        risk = model(x, training=True)[:, 0]
        return likelihood(risk, y[:, 1], tf.math.cumulative_logsumexp(risk))  # sorted_before

    return loss_of


def of_output(loss_of):
    return lambda model, x, y: loss_of(y, model(x, training=True)[:, 0])


def train(watch, loss_of, n_steps=2, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, activation="tanh"), layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-2)
    watched = watch(model)

    @tf.function(**options)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        step(*data())
    return watched


def left_in(recording):
    return [one for one in found_in(recording) if "left" in one]


@pytest.mark.parametrize(
    ("loss_of", "options"),
    [
        (earliest_first, {}),
        (earliest_first, {"jit_compile": True}),
        (turned_twice, {}),
        (one_sort, {}),
        (latest_first_from_the_end, {}),
    ],
)
def test_the_line_is_named(watch, read, loss_of, options):
    (found,) = left_in(read(train(watch, of_output(loss_of), **options)))
    assert found["source"]["line"] == find_line(loss_of.__name__, sys.modules[__name__])


@pytest.mark.parametrize("loss_of", [latest_first, earliest_first_from_the_end, earliest_first_turned, ranked])
def test_others_are_not_told(watch, read, loss_of):
    assert not left_in(read(train(watch, of_output(loss_of))))


@pytest.mark.parametrize(("direction", "is_told"), [("ASCENDING", True), ("DESCENDING", False)])
def test_samples_that_are_sorted_before_the_network_sees_them(watch, read, direction, is_told):
    found = left_in(read(train(watch, sorted_before(direction))))
    assert [one["source"]["line"] for one in found] == [find_line("sorted_before", sys.modules[__name__])] * is_told


def test_fit_is_told_with_its_cause(watch, read):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, activation="tanh"), layers.Dense(1)])
    model.compile("adam", lambda y, risk: earliest_first(y, risk[:, 0]))
    watched = watch(model)
    x, y = data()
    model.fit(x, y, batch_size=N, epochs=130, verbose=0)
    (found,) = [one for one in diagnose(read(watched)).findings() if "Cox loss" in one.title]
    assert found.hypotheses[0].cause.startswith("The sort or the cumulative sum runs the wrong way (test_risk_sets.py:")
