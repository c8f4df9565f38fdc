"""Advantages that leave their gradient to the critic, and estimators that let none through: told with their line."""

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

CAPTURE = ("gradient", "input", "operation")

N = 4
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(32, 5)).astype(np.float32)
TAKEN = RANDOM.integers(0, N, 32).astype(np.int32)
CAME = RANDOM.normal(size=32).astype(np.float32)


def log_probability(logits: Any, taken: Any) -> Any:
    return tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(taken, N), axis=1)


def left(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    advantage = came - value[:, 0]
    policy = -tf.reduce_mean(log_probability(logits, taken) * advantage)  # left
    return policy + 0.5 * tf.reduce_mean(tf.square(advantage))


def left_and_scaled(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    error = came - tf.squeeze(value, 1)
    scaled = (error - tf.reduce_mean(error)) / (tf.math.reduce_std(error) + 1e-6)
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits(taken, logits)
    return tf.reduce_mean(cross * scaled) + tf.reduce_mean(tf.square(error))  # left_and_scaled


def cut_off(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    advantage = came - value[:, 0]
    policy = -tf.reduce_mean(log_probability(logits, taken) * tf.stop_gradient(advantage))
    return policy + 0.5 * tf.reduce_mean(tf.square(advantage))


def expectation_cut_off(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    weight = came - tf.stop_gradient(value[:, 0])
    policy = -tf.reduce_mean(log_probability(logits, taken) * weight)
    return policy + tf.reduce_mean(tf.square(came - value[:, 0]))


def two_errors(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    """A cross-entropy beside a squared error."""
    return -tf.reduce_mean(log_probability(logits, taken)) + tf.reduce_mean(tf.square(came - value[:, 0]))


def misplaced(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    hard = h + tf.stop_gradient(tf.sign(h)) - h  # misplaced
    return tf.reduce_mean(tf.square(hard)) + two_errors(h, logits, value, taken, came)


def all_inside(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    hard = tf.stop_gradient(h + (tf.sign(h) - h))  # all_inside
    return tf.reduce_mean(tf.square(hard - logits[:, :1])) + two_errors(h, logits, value, taken, came)


def straight_through(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    hard = h + tf.stop_gradient(tf.sign(h) - h)
    return tf.reduce_mean(tf.square(hard)) + two_errors(h, logits, value, taken, came)


def a_target(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    aim = tf.stop_gradient(h + 0.1 * (tf.sign(h) - h))
    return tf.reduce_mean(tf.square(aim - logits[:, :1])) + two_errors(h, logits, value, taken, came)


def a_residue(h: Any, logits: Any, value: Any, taken: Any, came: Any) -> Any:
    return tf.reduce_mean(tf.square(h + tf.tanh(h) - h)) + two_errors(h, logits, value, taken, came)


TOLD = {left: "undetached", left_and_scaled: "undetached", misplaced: "cancels", all_inside: "cancels"}
NOT_TOLD = [cut_off, expectation_cut_off, two_errors, straight_through, a_target, a_residue]


def train(watch: Any, loss_of: Callable[..., Any], n_steps: int = 3) -> Any:
    given = keras.Input((5,))
    h = layers.Dense(8, "tanh")(given)
    model = keras.Model(given, [h, layers.Dense(N)(h), layers.Dense(1)(h)])
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(model)

    @tf.function
    def step(x: Any, taken: Any, came: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(*model(x, training=True), taken, came)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for _ in range(n_steps):
        step(X, TAKEN, CAME)
    return watched


@pytest.mark.parametrize("loss_of", TOLD)
def test_the_line_is_named(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    (found,) = found_in(read(train(watch, loss_of)))
    assert found[TOLD[loss_of]]
    assert found["source"]["line"] == find_line(loss_of.__name__, sys.modules[__name__])


@pytest.mark.parametrize("loss_of", NOT_TOLD)
def test_what_is_cut_off_where_it_must_be_is_not_told(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    assert found_in(read(train(watch, loss_of))) == []


@pytest.mark.parametrize(
    ("loss_of", "words"),
    [
        (left, "The advantage needs `tf.stop_gradient`"),
        (misplaced, "The subtraction is outside of"),
        (all_inside, "All of the estimator is inside"),
    ],
)
def test_it_is_told_with_its_cause(watch: Any, read: Any, loss_of: Callable[..., Any], words: str) -> None:
    findings = diagnose(read(train(watch, loss_of, 150))).findings()
    causes = [finding.hypotheses[0].cause for finding in findings if finding.kind == "loss_plateau"]
    assert any(cause.startswith(words) for cause in causes)


@pytest.mark.parametrize(("loss_of", "is_followed"), [(cut_off, False), (two_errors, True)])
def test_what_a_policy_earns_is_no_target_to_be_followed(
    watch: Any, read: Any, loss_of: Callable[..., Any], *, is_followed: bool
) -> None:
    watched = train(watch, loss_of)
    names = [name for table in read(watched).tables.values() for name in table["scalars"]]
    assert any(name.startswith("target_correlation") for name in names) == is_followed


class Codes(layers.Layer):
    """Replaces each vector by the nearest row of a table."""

    def __init__(self, passed: bool, swapped: bool = False, marked: bool = False) -> None:
        super().__init__(name="codes")
        self.passed, self.swapped, self.marked = passed, swapped, marked
        self.table = self.add_weight(shape=(6, 8), initializer="random_normal", name="table")

    def call(self, z: Any) -> Any:
        far = tf.reduce_sum(tf.square(z[:, None] - self.table[None]), axis=-1)
        row = tf.gather(self.table, tf.argmin(far, axis=1))  # row
        if self.marked:
            row = tf.matmul(tf.one_hot(tf.argmin(far, axis=1), 6), self.table)  # marked
        self.add_loss(tf.reduce_mean(tf.square(tf.stop_gradient(z) - row)))
        self.add_loss(0.25 * tf.reduce_mean(tf.square(z - tf.stop_gradient(row))))
        if self.swapped:
            return row + tf.stop_gradient(z - row)  # swapped
        return z + tf.stop_gradient(row - z) if self.passed else row


def quantize(watch: Any, *, learned: bool = True, n_epochs: int = 2, passed: bool = False, **options: bool) -> Any:
    keras.utils.set_random_seed(0)
    given = keras.Input((5,))
    z = layers.Dense(8)(given) if learned else layers.Lambda(lambda x: tf.tile(x, [1, 2])[:, :8])(given)
    model = keras.Model(given, layers.Dense(5)(layers.Dense(8, "relu")(Codes(passed, **options)(z))))
    model.compile(keras.optimizers.SGD(1e-3), "mse")
    watched = watch(model)
    model.fit(X, X, batch_size=16, epochs=n_epochs, verbose=0)
    return watched


def test_a_code_that_passes_no_gradient_on(watch: Any, read: Any) -> None:
    (found,) = found_in(read(quantize(watch, passed=False)))
    assert found["unpassed"]
    assert found["layer"].split("/")[-1] == "codes"
    assert found["source"]["line"] == find_line("row", sys.modules[__name__])


def test_a_code_that_is_multiplied_with_a_mark_passes_none_either(watch: Any, read: Any) -> None:
    (found,) = found_in(read(quantize(watch, marked=True)))
    assert found["unpassed"]
    assert found["source"]["line"] == find_line("marked", sys.modules[__name__])


def test_a_code_that_has_the_gradient_in_place_of_what_it_replaces(watch: Any, read: Any) -> None:
    (found,) = found_in(read(quantize(watch, swapped=True)))
    assert found["swapped"]
    assert found["source"]["line"] == find_line("swapped", sys.modules[__name__])


@pytest.mark.parametrize(
    "options",
    [{"passed": True}, {"passed": True, "marked": True}, {"passed": False, "learned": False}],
    ids=["passed", "marked", "no encoder"],
)
def test_a_code_that_does_or_need_not(watch: Any, read: Any, options: Any) -> None:
    assert found_in(read(quantize(watch, **options))) == []


def test_a_code_without_a_gradient_is_told_with_its_cause(watch: Any, read: Any) -> None:
    findings = diagnose(read(quantize(watch, passed=False, n_epochs=80))).findings()
    (told,) = (one for one in findings if "nearest code" in one.title)
    assert told.hypotheses[0].cause.startswith("The straight-through estimator is missing (test_undetached.py:")
