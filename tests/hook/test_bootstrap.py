"""A value of the next state that is counted on beyond an episode's end, in a step that does not read where that is."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")

GAMMA = 0.97
RANDOM = np.random.default_rng(0)
STATES, NEXT = RANDOM.normal(size=(2, 32, 4)).astype(np.float32)
ACTIONS = RANDOM.integers(0, 2, 32).astype(np.int32)
REWARDS = RANDOM.normal(size=32).astype(np.float32)
DONE = (RANDOM.random(32) < 0.2).astype(np.float32)


def build():
    return keras.Sequential([keras.Input((4,)), layers.Dense(16, "relu"), layers.Dense(2)])


def of_the_best(reward, values, done):
    return reward + GAMMA * tf.reduce_max(values, axis=1)  # of_the_best


def of_the_picked(reward, values, done):
    picked = tf.gather(values, tf.argmax(values, axis=1), axis=1, batch_dims=1)
    return tf.stop_gradient(picked * GAMMA + reward)  # of_the_picked


def ended(reward, values, done):
    return reward + GAMMA * (1.0 - done) * tf.reduce_max(values, axis=1)


def ended_by_choice(reward, values, done):
    return reward + GAMMA * tf.where(done > 0, 0.0, tf.reduce_max(values, axis=1))


def no_value(reward, values, done):
    """Not of a network, and nothing else is read: a loss with a constant share of an argument."""
    return reward + GAMMA * reward


def read_elsewhere(reward, values, done):
    return reward + GAMMA * tf.reduce_max(values, axis=1) - 0.1 * done


def train(watch, target_of):
    keras.utils.set_random_seed(0)
    online, target = build(), build()
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(online)

    @tf.function
    def learn(states, actions, reward, following, done):
        goal = target_of(reward, target(following), done)
        with tf.GradientTape() as tape:
            q = tf.gather(online(states), actions, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        optimizer.apply(tape.gradient(loss, online.trainable_variables), online.trainable_variables)
        return loss

    for _ in range(130):
        learn(*map(tf.constant, (STATES, ACTIONS, REWARDS, NEXT, DONE)))
    return watched


@pytest.mark.parametrize("target_of", [of_the_best, of_the_picked])
def test_an_end_that_nothing_reads(watch, read, target_of):
    recording = read(train(watch, target_of))
    (slip,) = found_in(recording, "slips")
    assert (slip["type"], slip["unread"]) == ("Placeholder", ["done"])
    assert slip["source"]["line"] == find_line(target_of.__name__, sys.modules[__name__])
    (one,) = [one for one in diagnose(recording).findings() if "counted on" in one.title]
    assert "`done`" in one.title
    assert one.source["line"] == slip["source"]["line"]


@pytest.mark.parametrize("target_of", [ended, ended_by_choice, no_value, read_elsewhere])
def test_an_end_that_is_read(watch, read, target_of):
    assert not found_in(read(train(watch, target_of)), "slips")


def follow(watch, *, from_state, n_steps=3):
    """A step that counts on from the next state, or from the state itself."""
    keras.utils.set_random_seed(0)
    online, target = build(), build()
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(online)

    @tf.function
    def learn(states, actions, reward, following, done):
        values = target(states if from_state else following)
        goal = reward + GAMMA * (1.0 - done) * tf.reduce_max(values, axis=1)
        with tf.GradientTape() as tape:
            q = tf.gather(online(states), actions, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        optimizer.apply(tape.gradient(loss, online.trainable_variables), online.trainable_variables)

    for _ in range(n_steps):
        learn(*map(tf.constant, (STATES, ACTIONS, REWARDS, NEXT, DONE)))
    return watched


@pytest.mark.parametrize("from_state", [True, False])
def test_a_next_state_that_nothing_reads(watch, read, from_state):
    found = [one["unfollowed"] for one in found_in(read(follow(watch, from_state=from_state))) if "unfollowed" in one]
    assert found == (["following"] if from_state else [])


def test_it_is_told_what_the_step_does_not_read(watch, read):
    findings = diagnose(read(follow(watch, from_state=True, n_steps=130))).findings()
    (one,) = [one for one in findings if "bootstraps from another state" in one.title]
    assert "`following`" in one.title
    assert one.hypotheses[0].cause.startswith("The next state is not used")


def stopped(reward, values, done):
    return tf.stop_gradient(ended(reward, values, done))


def stopped_before(reward, values, done):
    return ended(reward, tf.stop_gradient(values), done)


UNSTOPPED = {
    "of the best": (ended, True, True, 1),
    "where it goes on": (ended_by_choice, True, True, 1),
    "stopped": (stopped, True, True, 0),
    "stopped before": (stopped_before, True, True, 0),
    "of another network": (ended, False, True, 0),
    "before the tape": (ended, True, False, 0),
}


@pytest.mark.parametrize(("target_of", "is_own", "is_taped", "n_told"), UNSTOPPED.values(), ids=UNSTOPPED)
def test_a_target_whose_gradient_is_left(watch, read, target_of, is_own, is_taped, n_told):
    online, target = build(), build()
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(online)
    ahead = online if is_own else target

    @tf.function
    def learn(states, actions, reward, following, done):
        goal = None if is_taped else target_of(reward, ahead(following), done)
        with tf.GradientTape() as tape:
            goal = target_of(reward, ahead(following), done) if is_taped else goal
            q = tf.reduce_sum(online(states) * tf.one_hot(actions, 2), axis=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        optimizer.apply(tape.gradient(loss, online.trainable_variables), online.trainable_variables)

    for _ in range(3):
        learn(*map(tf.constant, (STATES, ACTIONS, REWARDS, NEXT, DONE)))
    assert len([one for one in found_in(read(watched)) if "unstopped" in one]) == n_told
