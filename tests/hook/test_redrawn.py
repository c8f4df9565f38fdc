"""Actions that a step draws anew, while it is given what came of others; draws that are rewarded themselves are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")

N = 4
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(32, 5)).astype(np.float32)
TAKEN = RANDOM.integers(0, N, 32).astype(np.int32)
CAME = RANDOM.normal(size=32).astype(np.float32)
TABLE = RANDOM.normal(size=(32, N)).astype(np.float32)


def drawn_and_gathered(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    action = tf.random.categorical(logits, 1)[:, 0]  # drawn_and_gathered
    return -tf.reduce_mean(tf.gather(tf.nn.log_softmax(logits), action, batch_dims=1) * came)


def drawn_by_keras(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    action = tf.squeeze(keras.random.categorical(logits, 1, seed=SEED), axis=1)  # drawn_by_keras
    log_prob = tf.reduce_sum(tf.one_hot(action, N) * tf.nn.log_softmax(logits), axis=1)
    return -tf.reduce_mean(log_prob * (came - tf.reduce_mean(came)))


def drawn_of_probabilities(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    share = tf.nn.softmax(logits)
    action = tf.random.categorical(tf.math.log(share + 1e-8), 1)  # drawn_of_probabilities
    picked = tf.gather(share, action[:, 0], batch_dims=1)
    return tf.reduce_mean(came * -tf.math.log(picked + 1e-8))


def drawn_as_labels(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    action = tf.random.categorical(logits, 1)[:, 0]  # drawn_as_labels
    return tf.reduce_mean(came * tf.nn.sparse_softmax_cross_entropy_with_logits(action, logits))


def as_it_was_taken(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    return tf.reduce_mean(came * tf.nn.sparse_softmax_cross_entropy_with_logits(taken, logits))


def rewarded_in_the_step(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    action = tf.random.categorical(logits, 1)[:, 0]
    reward = tf.gather(table, action, batch_dims=1)
    log_prob = tf.reduce_sum(tf.one_hot(action, N) * tf.nn.log_softmax(logits), axis=1)
    return -tf.reduce_mean(log_prob * tf.stop_gradient(reward - tf.reduce_mean(reward)))


def negatives_of_a_table(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    """Drawn from what the model does not give, and weighed."""
    other = tf.random.categorical(tf.zeros_like(table), 1)[:, 0]
    margin = tf.gather(logits, taken, batch_dims=1) - tf.gather(logits, other, batch_dims=1)
    return tf.reduce_mean(tf.nn.softplus(-margin) * tf.abs(came))


def without_a_reward(logits: Any, taken: Any, came: Any, table: Any) -> Any:
    action = tf.random.categorical(logits, 1)[:, 0]
    entropy = -tf.reduce_mean(tf.gather(tf.nn.log_softmax(logits), action, batch_dims=1))
    return tf.reduce_mean(came * tf.nn.sparse_softmax_cross_entropy_with_logits(taken, logits)) - 0.01 * entropy


SEED = keras.random.SeedGenerator(0)
TOLD = [drawn_and_gathered, drawn_by_keras, drawn_of_probabilities, drawn_as_labels]
NOT_TOLD = [as_it_was_taken, rewarded_in_the_step, negatives_of_a_table, without_a_reward]


def train(watch: Any, loss_of: Callable[..., Any], n_steps: int = 30) -> Any:
    policy = keras.Sequential([keras.Input((5,)), layers.Dense(8, "tanh"), layers.Dense(N)])
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(policy)

    @tf.function
    def step(x: Any, taken: Any, came: Any, table: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(policy(x, training=True), taken, came, table)
        gradients = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(gradients, policy.trainable_variables, strict=True))

    for _ in range(n_steps):
        step(X, TAKEN, CAME, TABLE)
    return watched


@pytest.mark.parametrize("loss_of", TOLD)
def test_the_draw_is_named(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    (found,) = found_in(read(train(watch, loss_of)))
    assert found["source"]["line"] == find_line(loss_of.__name__, sys.modules[__name__])


@pytest.mark.parametrize("loss_of", NOT_TOLD)
def test_other_draws_are_not(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    assert found_in(read(train(watch, loss_of, 3))) == []


def test_it_is_told_with_its_cause(watch: Any, read: Any) -> None:
    findings = diagnose(read(train(watch, drawn_and_gathered, 150))).findings()
    (told,) = (one for one in findings if "draws actions anew" in one.title)
    assert (told.kind, told.first_step) == ("loss_plateau", 0)
    assert told.hypotheses[0].cause.startswith("What is rewarded is not the action that was taken (test_redrawn.py:")
