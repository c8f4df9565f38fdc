"""Weights that somebody else than the optimizer assigns between steps: how much is left, and which line did it."""

import itertools
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from gradwatch.assigned import SAMPLE, TIMES_MAX
from tests.hook.diagnosis import diagnose, find_line

X = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
Y = np.random.default_rng(1).normal(size=(64, 1)).astype("float32")


def build():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(100, "tanh"), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return model


def assigned_in(recording):
    return list(itertools.chain.from_iterable(message["assigned"] for message in recording.rows[0]))


class After(keras.callbacks.Callback):
    """Does something after each epoch of four steps."""

    def __init__(self, act):
        super().__init__()
        self.act = act

    def on_train_begin(self, logs=None):
        self.base = self.model.get_weights()

    def on_epoch_end(self, epoch, logs=None):
        self.act(self.model, self.base)


def fit(watch, act, epochs=3, **options):
    model = build()
    model.compile(keras.optimizers.SGD(0.1), "mse", **options)
    watched = watch(model)
    model.fit(X, Y, batch_size=16, epochs=epochs, callbacks=[After(act)], verbose=0)
    return watched


def put_back(model, base):
    model.set_weights(base)  # put_back


def put_back_partly(model, base):
    now = model.get_weights()
    model.set_weights([a + 0.25 * (b - a) for a, b in zip(base, now, strict=True)])
    base[:] = model.get_weights()


def look_elsewhere(model, base):
    trained = model.get_weights()
    model.set_weights(base)
    model.set_weights(trained)


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=["graph", "jit", "eagerly"])
def test_weights_that_are_put_back_in_fit(watch, read, options):
    found = assigned_in(read(fit(watch, put_back, **options)))
    assert [one["step"] for one in found] == [3, 7]  # after the last epoch no step follows
    assert all(one["left"] < 1e-6 for one in found)
    assert {one["source"]["line"] for one in found} == {find_line("put_back", sys.modules[__name__])}


def test_how_much_is_left(watch, read):
    found = assigned_in(read(fit(watch, put_back_partly, epochs=4)))
    assert [one["left"] for one in found] == pytest.approx([0.25] * 3, rel=1e-4)


@pytest.mark.parametrize("act", [look_elsewhere, lambda model, base: None], ids=["and back", "nothing"])
def test_weights_that_are_the_same_when_training_goes_on(watch, read, act):
    assert assigned_in(read(fit(watch, act))) == []


def test_a_loop_that_copies_in_the_wrong_direction(watch, read):
    model, target = build(), build()
    optimizer = keras.optimizers.Adam(1e-2)
    watched = watch(model)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    n_steps = TIMES_MAX + 20
    for _ in range(n_steps):
        step(X[:8], Y[:8])
        for one, other in zip(model.trainable_variables, target.trainable_variables, strict=True):
            one.assign(other)  # a_loop
    found = assigned_in(read(watched))
    assert [one["step"] for one in found] == list(range(TIMES_MAX))
    assert all(one["left"] == 0 for one in found)


def test_a_network_that_nobody_trains_may_be_assigned(watch, read):
    model, target = build(), build()
    watched = watch(model)
    for _ in range(3):
        model.train_on_batch(X[:16], Y[:16])
        target.set_weights(model.get_weights())
    assert assigned_in(read(watched)) == []


def test_before_the_first_step_anything_may_be_loaded(watch, read):
    model = build()
    watched = watch(model)
    model.train_on_batch(X[:16], Y[:16])
    loaded = [one + 1.0 for one in model.get_weights()]
    model.set_weights(loaded)
    model.train_on_batch(X[:16], Y[:16])
    (found,) = assigned_in(read(watched))
    assert found["step"] == 0
    assert found["left"] > 1


def test_a_step_that_fails_to_assign_says_so_itself(watch):
    model = build()
    watch(model)
    model.train_on_batch(X[:16], Y[:16])
    with pytest.raises(ValueError, match="shape"):
        model.trainable_variables[0].assign(np.zeros((SAMPLE, 3)))


@pytest.mark.parametrize("name", ["assign", "assign_sub", "assign_add"])
def test_nothing_is_left_of_it(watch, name):
    before = getattr(BaseResourceVariable, name)
    model = build()
    watched = watch(model)
    model.train_on_batch(X[:16], Y[:16])
    assert getattr(BaseResourceVariable, name) is not before
    watched.close()
    assert getattr(BaseResourceVariable, name) is before


@pytest.mark.parametrize("back", ["assign", "assign_sub", "assign_add"])
def test_the_variable_behind_that_of_keras(watch, read, back):
    model = build()
    watched = watch(model)
    base = model.get_weights()
    for _ in range(3):
        model.train_on_batch(X[:16], Y[:16])
        for one, was in zip(model.trainable_variables, base, strict=True):
            moved = one.numpy() - was
            getattr(one.value, back)({"assign": was, "assign_sub": moved, "assign_add": -moved}[back])
    found = assigned_in(read(watched))
    assert [one["step"] for one in found] == [0, 1]
    assert all(one["left"] < 1e-5 for one in found)


# In the step's own graph


def decayed(watch, shrink, *, is_jit=False):
    model, optimizer = build(), keras.optimizers.Adam(1e-3)
    watched = watch(model, optimizer)

    @tf.function(jit_compile=is_jit)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        for one in model.trainable_variables:
            one.assign(shrink(one))  # shrunk

    for _ in range(60):
        step(X, Y)
    return model, watched


@pytest.mark.parametrize("is_jit", [False, True], ids=["graph", "jit"])
def test_a_decay_that_is_not_multiplied_by_the_rate(watch, read, is_jit):
    _, watched = decayed(watch, lambda one: one * 0.95, is_jit=is_jit)
    recording = read(watched)
    (found,) = assigned_in(recording)
    line = find_line("shrunk", sys.modules[__name__])
    assert (found["left"], found["source"]["line"]) == (None, line)
    (told,) = [one for one in diagnose(recording).findings() if "takes" in one.title]
    assert told.evidence["share"] == pytest.approx(0.05, abs=0.01)
    assert told.source["line"] == line


def test_a_decay_that_is_multiplied_by_the_rate(watch, read):
    _, watched = decayed(watch, lambda one: one * (1 - 1e-3 * 0.004))
    recording = read(watched)
    assert [one["left"] for one in assigned_in(recording)] == [None]
    assert not [one for one in diagnose(recording).findings() if "takes" in one.title]
