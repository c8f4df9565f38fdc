"""Ratios of a policy's probabilities: told where they are old over new."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


N, WIDTH, N_ACTIONS = 32, 4, 3


def data():
    random = np.random.default_rng(0)
    given = random.normal(size=(N, WIDTH)), random.integers(0, N_ACTIONS, N), -random.random(N), random.normal(size=N)
    return [tf.constant(one.astype("int32" if one.dtype == int else "float32")) for one in given]


def discrete(scores, action):
    return tf.reduce_sum(tf.one_hot(action, N_ACTIONS) * tf.nn.log_softmax(scores), -1)


def surprise(scores, action):
    """The negative of a log-probability."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(action, scores)


def normal(scores, action):
    z = (tf.cast(action, tf.float32) - scores[:, 0]) / tf.exp(0.1 * scores[:, 1])
    return -0.5 * tf.square(z) - 0.1 * scores[:, 1] - 0.5 * np.log(2 * np.pi)


def inverse(scores, action, old):
    return tf.exp(old - discrete(scores, action))  # inverse


def inverse_of_surprises(scores, action, old):
    return tf.exp(surprise(scores, action) + 0.0 - (-old))  # inverse_of_surprises


def inverse_of_normal(scores, action, old):
    return tf.exp(old - normal(scores, action))  # inverse_of_normal


def right(scores, action, old):
    return tf.exp(discrete(scores, action) - old)


def right_of_surprises(scores, action, old):
    return tf.exp(-old - surprise(scores, action))


def right_of_negative_surprises(scores, action, old):
    return tf.exp(-surprise(scores, action) - old)


def right_of_normal(scores, action, old):
    return tf.exp(normal(scores, action) - old)


def bounded_ratio(ratio, advantage):
    return tf.minimum(ratio * advantage, tf.clip_by_value(ratio, 0.8, 1.2) * advantage)


def bounded_advantage(ratio, advantage):
    return tf.minimum(ratio * advantage, tf.where(advantage > 0, 1.2 * advantage, 0.8 * advantage))


def train(watch, ratio_of, n_steps=2, objective_of=bounded_ratio, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, activation="tanh"), layers.Dense(N_ACTIONS)])
    optimizer = keras.optimizers.Adam(1e-4)
    watched = watch(model)

    @tf.function(**options)
    def step(state, action, old, advantage):
        with tf.GradientTape() as tape:
            ratio = ratio_of(model(state, training=True), action, old)
            loss = -tf.reduce_mean(objective_of(ratio, advantage))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        step(*data())
    return watched


def inverse_in(recording):
    return [one for one in found_in(recording) if "inverse" in one]


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize("ratio_of", [inverse, inverse_of_surprises, inverse_of_normal])
def test_the_line_is_named(watch, read, ratio_of, options):
    (found,) = inverse_in(read(train(watch, ratio_of, **options)))
    assert found["source"]["line"] == find_line(ratio_of.__name__, sys.modules[__name__])


@pytest.mark.parametrize(("ratio_of", "is_told"), [(inverse, True), (right, False)])
def test_one_that_is_held_by_what_the_advantage_bounds(watch, read, ratio_of, *, is_told):
    assert bool(inverse_in(read(train(watch, ratio_of, objective_of=bounded_advantage)))) == is_told


@pytest.mark.parametrize("ratio_of", [right, right_of_surprises, right_of_negative_surprises, right_of_normal])
def test_others_are_not_told(watch, read, ratio_of):
    assert not inverse_in(read(train(watch, ratio_of)))


def test_it_is_told_with_its_cause(watch, read):
    (found,) = [one for one in diagnose(read(train(watch, inverse, 130))).findings() if "ratio" in one.title]
    line = find_line("inverse", sys.modules[__name__])
    assert found.hypotheses[0].cause == f"Old and new log-probabilities are swapped (test_ratio.py:{line})"


def objective(scores, action, old, advantage):
    ratio = right(scores, action, old)
    return tf.minimum(ratio * advantage, tf.clip_by_value(ratio, 0.8, 1.2) * advantage)  # objective


def larger(scores, action, old, cost):
    """Of costs the larger one is to become small."""
    ratio = right(scores, action, old)
    return tf.maximum(ratio * cost, tf.clip_by_value(ratio, 0.8, 1.2) * cost)


def added(made, value):
    return tf.reduce_mean(made) + 0.5 * value


def negative_of_negative(made, value):
    return 0.5 * value - tf.reduce_mean(-1.0 * made)


def taken(made, value):
    return -tf.reduce_mean(made) + 0.5 * value


def subtracted(made, value):
    return 0.5 * value - tf.reduce_mean(made)


def optimize(watch, loss_of, objective_of=objective, n_steps=2):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, activation="tanh"), layers.Dense(N_ACTIONS)])
    optimizer = keras.optimizers.Adam(1e-4)
    watched = watch(model)

    @tf.function
    def step(state, action, old, advantage):
        with tf.GradientTape() as tape:
            scores = model(state, training=True)
            loss = loss_of(objective_of(scores, action, old, advantage), tf.reduce_mean(tf.square(scores)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        step(*data())
    return watched


def climbing_in(recording):
    return [one for one in found_in(recording) if "climbs" in one]


@pytest.mark.parametrize("loss_of", [added, negative_of_negative])
def test_an_objective_that_is_made_small(watch, read, loss_of):
    (found,) = climbing_in(read(optimize(watch, loss_of)))
    assert found["source"]["line"] == find_line("objective", sys.modules[__name__])


@pytest.mark.parametrize(("loss_of", "objective_of"), [(taken, objective), (subtracted, objective), (added, larger)])
def test_an_objective_that_is_made_large(watch, read, loss_of, objective_of):
    assert not climbing_in(read(optimize(watch, loss_of, objective_of)))


def test_it_is_told_that_a_minus_is_missing(watch, read):
    findings = diagnose(read(optimize(watch, added, n_steps=130))).findings()
    (one,) = [one for one in findings if "minus sign is missing" in one.title]
    assert one.hypotheses[0].cause.startswith("The policy's loss has the wrong sign")


def larger_in(recording):
    return [one for one in found_in(recording) if "larger" in one]


@pytest.mark.parametrize("loss_of", [taken, subtracted])
def test_the_larger_one_that_is_made_large(watch, read, loss_of):
    (found,) = larger_in(read(optimize(watch, loss_of, larger)))
    assert found["type"] == "Maximum"


def smaller_of_negatives(scores, action, old, advantage):
    ratio = right(scores, action, old)
    return tf.maximum(-advantage * ratio, -advantage * tf.clip_by_value(ratio, 0.8, 1.2))


def both_bounds(scores, action, old, advantage):
    """Never below three times a loss."""
    return tf.maximum(objective(scores, action, old, advantage), 3.0 * advantage)


@pytest.mark.parametrize(
    ("loss_of", "objective_of"), [(added, larger), (added, smaller_of_negatives), (taken, both_bounds)]
)
def test_a_larger_one_that_is_meant(watch, read, loss_of, objective_of):
    assert not larger_in(read(optimize(watch, loss_of, objective_of)))
