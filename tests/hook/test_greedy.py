"""The largest value of several actions, learned whichever action was taken."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


N, WIDTH, N_ACTIONS = 32, 4, 3


def network():
    return keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, activation="tanh"), layers.Dense(N_ACTIONS)])


def greedy(values, action):
    return tf.reduce_max(values, axis=1)  # greedy


def taken(values, action):
    return tf.gather(values, action, axis=1, batch_dims=1)


def picked(values, action):
    return tf.reduce_sum(tf.one_hot(action, N_ACTIONS) * values, axis=1)


def largest_of_all_but_an_outlier(values, action):
    return tf.reduce_mean(values, axis=1)


def train(watch, value_of, n_steps=2, inside=False, **options):
    keras.utils.set_random_seed(0)
    model, target = network(), network()
    optimizer = keras.optimizers.Adam(1e-4)
    huber = keras.losses.Huber()
    watched = watch(model)
    random = np.random.default_rng(0)

    @tf.function(**options)
    def step(state, action, reward, following, end):
        later = tf.reduce_max(target(following), axis=1)
        asked = reward + 0.9 * later * (1.0 - end)
        with tf.GradientTape() as tape:
            if inside:  # with its gradient, as in a residual's
                asked = reward + 0.9 * tf.reduce_max(model(following), axis=1) * (1.0 - end)
            loss = huber(asked, value_of(model(state, training=True), action))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        state, following = random.normal(size=(2, N, WIDTH)).astype("float32")
        reward, end = random.normal(size=N).astype("float32"), (random.random(N) < 0.1).astype("float32")
        step(*map(tf.constant, (state, random.integers(0, N_ACTIONS, N), reward, following, end)))
    return watched


def greedy_in(recording):
    return [one for one in found_in(recording) if "greedy" in one]


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
def test_the_line_is_named(watch, read, options):
    (found,) = greedy_in(read(train(watch, greedy, **options)))
    assert found["source"]["line"] == find_line("greedy", sys.modules[__name__])


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("value_of", [taken, picked, largest_of_all_but_an_outlier])
def test_others_are_not_told(watch, read, value_of, inside):
    assert not greedy_in(read(train(watch, value_of, inside=inside)))


def test_it_is_told_with_its_cause(watch, read):
    (found,) = [one for one in diagnose(read(train(watch, greedy, 130))).findings() if "action value" in one.title]
    assert found.hypotheses[0].cause.startswith("max Q(s) is used in place of")
