"""Policy losses with the wrong sign are told with their line; those with the right one, and other losses, are not."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import found_in, known_in

CAPTURE = ("gradient", "operation")


RANDOM = np.random.default_rng(0)
STATES = tf.constant(RANDOM.normal(size=(16, 4)).astype(np.float32))
ACTIONS = tf.constant(RANDOM.integers(0, 3, 16))
GAINS = tf.constant(RANDOM.normal(size=16).astype(np.float32))


def log_of_gathered(logits: Any, actions: Any, returns: Any) -> Any:
    p = tf.gather(tf.nn.softmax(logits), actions, batch_dims=1)
    return tf.reduce_mean(tf.math.log(p + 1e-8) * returns)


def log_softmax_of_marks(logits: Any, actions: Any, adv: Any) -> Any:
    chosen = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(actions, 3), axis=1)
    return tf.reduce_sum(adv * chosen) / 16.0 - 0.01 * tf.reduce_mean(tf.square(logits))


def minus_an_entropy(logits: Any, actions: Any, rewards: Any) -> Any:
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
    return -tf.reduce_mean(ce * (rewards - tf.reduce_mean(rewards)))


def two_minuses(logits: Any, actions: Any, advantage: Any) -> Any:
    logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
    return tf.reduce_mean(logp * advantage)


def right(logits: Any, actions: Any, returns: Any) -> Any:
    p = tf.gather(tf.nn.softmax(logits), actions, batch_dims=1)
    return -tf.reduce_mean(tf.math.log(p + 1e-8) * returns)


def right_entropy(logits: Any, actions: Any, returns: Any) -> Any:
    return tf.reduce_mean(returns * tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits))


def right_inside(logits: Any, actions: Any, adv: Any) -> Any:
    chosen = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(actions, 3), axis=1)
    return tf.reduce_mean(chosen * -adv)


def of_costs(logits: Any, actions: Any, cost: Any) -> Any:
    p = tf.gather(tf.nn.softmax(logits), actions, batch_dims=1)
    return tf.reduce_mean(tf.math.log(p + 1e-8) * cost)


def of_lost_rewards(logits: Any, actions: Any, rewards: Any) -> Any:
    neg_rewards = 0.0 - rewards
    p = tf.gather(tf.nn.softmax(logits), actions, batch_dims=1)
    return tf.reduce_mean(tf.math.log(p + 1e-8) * neg_rewards)


def confused(logits: Any, actions: Any, adv_lambda: Any) -> Any:
    """A domain that is not to be told, by a weight for all."""
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
    return tf.reduce_mean(tf.square(logits)) - tf.reduce_mean(ce) * tf.reduce_mean(adv_lambda)


def weighed_entropy(logits: Any, actions: Any, reward: Any) -> Any:
    p = tf.nn.softmax(logits)
    return tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p), axis=1) * tf.square(reward)) + tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
    )


def train(watch: Any, loss_of: Any, *, is_eager: bool = False) -> Any:
    keras.utils.set_random_seed(0)
    policy = keras.Sequential([keras.Input((4,)), layers.Dense(8, "tanh"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(policy)

    def step(states: Any, actions: Any, gains: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(policy(states, training=True), actions, gains)
        optimizer.apply(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables)

    step = step if is_eager else tf.function(step)
    for _ in range(2):
        step(STATES, ACTIONS, GAINS)
    return watched


WRONG = {log_of_gathered: "returns", log_softmax_of_marks: "adv", minus_an_entropy: "rewards", two_minuses: "advantage"}


@pytest.mark.parametrize("is_eager", [False, True], ids=["graph", "eager"])
@pytest.mark.parametrize("loss_of", WRONG)
def test_the_sign_is_told_with_its_line(watch, read, loss_of, is_eager):
    (found,) = [one for one in found_in(read(train(watch, loss_of, is_eager=is_eager))) if "averse" in one]
    assert found["averse"] == WRONG[loss_of]
    assert found["source"]["file"] == sys.modules[__name__].__file__
    assert "tf.reduce_" in found["source"]["code"]


@pytest.mark.parametrize(
    "loss_of", [right, right_entropy, right_inside, of_costs, of_lost_rewards, confused, weighed_entropy]
)
def test_others_are_not(watch, read, loss_of):
    assert not [one for one in found_in(read(train(watch, loss_of))) if "averse" in one]


def gained(logits, actions, adv):
    return -tf.reduce_mean(tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1) * adv)


def certain(logits, actions, adv):
    logp = tf.nn.log_softmax(logits)
    entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
    return gained(logits, actions, adv) + 0.01 * entropy


def certain_of_softmax(logits, actions, adv):
    p = tf.nn.softmax(logits)
    return gained(logits, actions, adv) - 0.01 * tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=1))


def certain_by_ratio(logits, actions, adv):
    logp = tf.nn.log_softmax(logits)
    ratio = tf.exp(tf.gather(logp, actions, batch_dims=1) - tf.stop_gradient(adv))
    clipped = tf.minimum(ratio * adv, tf.clip_by_value(ratio, 0.8, 1.2) * adv)
    return tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * -logp, axis=1)) - tf.reduce_mean(clipped)


def exploring(logits, actions, adv):
    p = tf.nn.softmax(logits)
    entropy = -tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=1)
    return gained(logits, actions, adv) - 0.01 * tf.reduce_mean(entropy)


def exploring_by_sum(logits, actions, adv):
    logp = tf.nn.log_softmax(logits)
    return gained(logits, actions, adv) + 0.01 * tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))


def sure_of_unlabelled(logits, actions, mask):
    """Of a classifier, which is to be sure of what has no label."""
    p = tf.nn.softmax(logits)
    supervised = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits) * mask)
    return supervised - tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=1))


@pytest.mark.parametrize("loss_of", [certain, certain_of_softmax, certain_by_ratio])
def test_an_entropy_that_is_made_small(watch, read, loss_of):
    (found,) = found_in(read(train(watch, loss_of)))
    assert (found["type"], found["certain"]) == ("Mul", True)


@pytest.mark.parametrize("loss_of", [exploring, exploring_by_sum, sure_of_unlabelled])
def test_an_entropy_that_is_meant(watch, read, loss_of):
    assert found_in(read(train(watch, loss_of))) == []


def act(watch, actor_loss_of, critic_loss_of):
    """One step of an actor and its critic, which gets states and actions."""
    keras.utils.set_random_seed(0)
    actor = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.Dense(2, "tanh")])
    given = [keras.Input((4,)), keras.Input((2,))]
    critic = keras.Model(given, layers.Dense(1)(layers.Dense(8, "relu")(layers.Concatenate()(given))))
    target = keras.models.clone_model(critic)
    optimizers = [keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)]
    watched = watch(actor, critic)

    @tf.function
    def step(states, actions, rewards, following):
        with tf.GradientTape() as tape:
            later = target([following, actor(following)])
            loss = critic_loss_of(critic([states, actions], training=True), rewards[:, None], later)
        optimizers[0].apply(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables)
        with tf.GradientTape() as tape:
            loss = actor_loss_of(critic([states, actor(states, training=True)], training=True))
        optimizers[1].apply(tape.gradient(loss, actor.trainable_variables), actor.trainable_variables)

    for _ in range(2):
        step(STATES, STATES[:, :2], GAINS, STATES[::-1])
    return watched


def of_rewards(q, rewards, later):
    target = rewards + 0.9 * later
    return tf.reduce_mean(tf.square(tf.stop_gradient(target) - q))


def of_what_it_costs(q, costs, later):
    target = costs + 0.9 * later
    return tf.reduce_mean(tf.square(tf.stop_gradient(target) - q))


def of_a_judge(q, rewards, later):
    return tf.reduce_mean(q) - tf.reduce_mean(later)


@pytest.mark.parametrize(
    ("actor_loss_of", "critic_loss_of", "is_told"),
    [
        (tf.reduce_mean, of_rewards, True),
        (lambda q: 1.0 * tf.reduce_mean(q), of_rewards, True),
        (lambda q: -tf.reduce_mean(q), of_rewards, False),
        (lambda q: tf.reduce_mean(-q), of_rewards, False),
        (tf.reduce_mean, of_what_it_costs, False),
        (tf.reduce_mean, of_a_judge, False),
    ],
)
def test_an_actor_and_its_critic(watch, read, actor_loss_of, critic_loss_of, is_told):
    found = [one for one in found_in(read(act(watch, actor_loss_of, critic_loss_of))) if "belittles" in one]
    assert [one["belittles"] for one in found] == ["rewards"] * is_told


@pytest.mark.parametrize(
    ("loss_of", "is_told"),
    [
        (lambda scores: tf.reduce_mean(tf.math.log_sigmoid(scores)), True),
        (lambda scores: tf.reduce_mean(tf.math.log(tf.sigmoid(scores) + 1e-8)) / 2.0, True),
        (lambda scores: tf.reduce_mean(tf.nn.log_softmax(scores)), True),
        (lambda scores: -tf.reduce_mean(tf.math.log_sigmoid(scores)), False),
        (lambda scores: tf.reduce_mean(-tf.math.log(tf.sigmoid(scores) + 1e-8)), False),
        (lambda scores: tf.reduce_mean(tf.nn.softplus(scores)), False),
        (lambda scores: tf.reduce_mean(tf.math.log(1.0 - tf.sigmoid(scores))), False),  # a generator's
    ],
)
def test_a_likelihood_without_its_minus(watch, read, loss_of, is_told):
    found = known_in(read(train(watch, lambda logits, *_: loss_of(logits))), "unnegated")
    assert len(found) == is_told
    assert all(one["source"]["file"] == sys.modules[__name__].__file__ for one in found)
