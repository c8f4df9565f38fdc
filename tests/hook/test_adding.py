"""Calls that only add their gradients up: a bad one tells its operation, and their slips are those of the step."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from tests.hook.diagnosis import diagnose

X = np.random.default_rng(0).normal(size=(256, 8)).astype(np.float32)
Y = X @ np.random.default_rng(1).normal(size=(8, 1)).astype(np.float32)
N_MICRO = 4
BAD = 30
"""The call whose rows have no distance from each other."""


def distance(model, x, y):
    out = model(x)
    return tf.reduce_mean(tf.square(out - y)) + 1e-3 * tf.reduce_sum(tf.sqrt(tf.reduce_sum(tf.square(x * out), axis=1)))


def squares(model, x, y):
    return tf.reduce_mean(tf.square(model(x) - y))


def mispaired(model, x, y):
    return tf.reduce_mean(tf.square(tf.squeeze(model(x), -1) - y))


def added(one, gradient):
    one.assign_add(gradient / N_MICRO)


def assigned(one, gradient):
    one.assign(one + tf.clip_by_norm(gradient, 5.0))


class Loop:
    """Adds up the gradients of four batches, and applies them."""

    def __init__(self, loss=distance, add=added):
        keras.utils.set_random_seed(0)
        layers = [keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, use_bias=False)]
        self.model = keras.Sequential([keras.Input((8,)), *layers])
        self.optimizer = keras.optimizers.SGD(1e-3)
        self.optimizer.build(self.model.trainable_variables)
        self.sums = [tf.Variable(tf.zeros_like(one.value), trainable=False) for one in self.model.trainable_variables]
        self.n = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.loss, self.add, self.report = loss, add, lambda loss: None

    def compute(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(self.model, x, y)
        for one, gradient in zip(self.sums, tape.gradient(loss, self.model.trainable_variables), strict=True):
            self.add(one, gradient)
        return loss

    def update(self):
        pairs = zip([one.value() for one in self.sums], self.model.trainable_variables, strict=True)
        self.optimizer.apply_gradients(pairs)
        for one in self.sums:
            one.assign(tf.zeros_like(one))

    def run(self, step, n=40, target=Y):
        for i in range(n):
            rows = slice(16 * i % 256, 16 * i % 256 + 16)
            x = tf.zeros((16, 8)) if i == BAD else tf.constant(X[rows])
            step(x, tf.constant(target[rows]))


def in_two_functions(loop):
    compute, update = tf.function(loop.compute), tf.function(loop.update)
    calls = iter(range(1, 1000))

    def step(x, y):
        loss = compute(x, y)
        if next(calls) % N_MICRO == 0:
            update()
            loop.report(loss)

    return step


def applied_eagerly(loop):
    compute, calls = tf.function(loop.compute), iter(range(1, 1000))

    def step(x, y):
        loss = compute(x, y)
        if next(calls) % N_MICRO == 0:
            loop.update()
            loop.report(loss)

    return step


def in_a_branch(loop):
    @tf.function
    def step(x, y):
        loop.compute(x, y)
        loop.n.assign_add(1)
        if loop.n % N_MICRO == 0:
            loop.update()

    return step


STEPS = [in_two_functions, applied_eagerly, in_a_branch]


def origins_of(watched):
    watched.close()
    return [one for message in watched.collector.messages if message["type"] == "rows" for one in message["origins"]]


@pytest.mark.parametrize("add", [added, assigned])
@pytest.mark.parametrize("make", STEPS)
def test_a_bad_call_tells_where_it_began(watch, make, add):
    loop = Loop(add=add)
    watched = watch(loop.model, budget=0)
    loop.run(make(loop))
    (origin,) = origins_of(watched)
    assert origin["step"] == BAD // N_MICRO
    assert origin["operation"]["is_gradient"]
    assert "tf.sqrt(tf.reduce_sum(" in origin["operation"]["source"]["code"]


@pytest.mark.parametrize("make", STEPS)
def test_good_calls_tell_nothing(watch, make):
    loop = Loop(squares)
    watched = watch(loop.model, budget=0)
    loop.run(make(loop))
    assert origins_of(watched) == []


@pytest.mark.parametrize("make", STEPS)
def test_the_slips_of_such_calls(watch, read, make):
    loop = Loop(mispaired)
    watched = watch(loop.model, budget=0)
    loop.report = lambda loss: watched.log(loss=loss)
    loop.run(make(loop), n=400)
    recording = read(watched)
    (slip,) = recording.tables[0]["broadcasts"]
    assert "tf.squeeze(model(x), -1) - y" in slip["source"]["code"]
    (told,) = diagnose(recording).findings()
    assert "make a table of all pairs" in told.title


def test_a_number_made_of_gradients_is_no_sum(watch):
    """A norm that is kept for a report is not the gradients: what applies them tells of the step."""
    loop = Loop()
    kept = tf.Variable(0.0, trainable=False)
    watched = watch(loop.model, budget=0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = distance(loop.model, x, y)
        gradients = tape.gradient(loss, loop.model.trainable_variables)
        kept.assign(tf.linalg.global_norm(gradients))
        loop.optimizer.apply_gradients(zip(gradients, loop.model.trainable_variables, strict=True))

    loop.run(step)
    (origin,) = origins_of(watched)
    assert origin["step"] == BAD


@pytest.mark.parametrize("make", STEPS)
def test_the_training_is_the_same(collectors, make):
    found = []
    for is_watched in (False, True):
        loop = Loop()
        begun = gradwatch.watch(loop.model, budget=0) if is_watched else None
        loop.run(make(loop))
        found.append([weight.numpy() for weight in loop.model.weights])
        if begun:
            begun.close()
    for without, with_hook in zip(*found, strict=True):
        np.testing.assert_array_equal(without, with_hook)
