"""Distillations in which one side alone is divided by a temperature are told; those that are meant so are not."""

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
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(32, 6)).astype(np.float32)
T = 4.0
divergence = keras.losses.KLDivergence()


def student_alone(t: Any, s: Any) -> Any:
    soft = tf.nn.softmax(t)  # student_alone
    return divergence(soft, tf.nn.softmax(s / T))


def teacher_alone(t: Any, s: Any) -> Any:
    soft = tf.nn.softmax(t / T)
    return divergence(soft, tf.nn.softmax(s)) * T**2  # teacher_alone


def teacher_of_scores(t: Any, s: Any) -> Any:
    entropy = tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(t / T), s)  # teacher_of_scores
    return 0.5 * T**2 * tf.reduce_mean(entropy) * 1.0 + 0.5 * T**2 * 0.0 + tf.reduce_mean(entropy) * T**2


def student_by_hand(t: Any, s: Any) -> Any:
    soft = tf.nn.softmax(t)  # student_by_hand
    return tf.reduce_mean(tf.reduce_sum(soft * (tf.math.log(soft + 1e-9) - tf.nn.log_softmax(s / T)), -1))


TOLD = [
    (student_alone, "student"),
    (teacher_alone, "teacher"),
    (teacher_of_scores, "teacher"),
    (student_by_hand, "student"),
]
NOT_TOLD = {
    "both": lambda t, s: divergence(tf.nn.softmax(t / T), tf.nn.softmax(s / T)) * T**2,
    "neither": lambda t, s: divergence(tf.nn.softmax(t), tf.nn.softmax(s)),
    "a calibrated teacher": lambda t, s: divergence(tf.nn.softmax(t / 1.8), tf.nn.softmax(s)),
    "a sharper teacher": lambda t, s: divergence(tf.nn.softmax(t / 0.5), tf.nn.softmax(s)),
    "both sharper, by other numbers": lambda t, s: divergence(tf.nn.softmax(t / 0.04), tf.nn.softmax(s / 0.1)),
    "a student that is sharper": lambda t, s: divergence(tf.nn.softmax(t), tf.nn.softmax(s * 3.0)),
    "hard labels beside both": lambda t, s: (
        divergence(tf.nn.softmax(t / T), tf.nn.softmax(s / T)) * T**2
        + tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.argmax(X[:, :3], 1), s))
    ),
    "two networks that are trained": lambda t, s: divergence(tf.nn.softmax(s), tf.nn.softmax(s / T)),
}


def train(watch: Any, loss_of: Callable[[Any, Any], Any], n_steps: int = 2) -> Any:
    keras.utils.set_random_seed(0)
    teacher = keras.Sequential([keras.Input((6,)), layers.Dense(16, "relu"), layers.Dense(3)])
    student = keras.Sequential([keras.Input((6,)), layers.Dense(4, "relu"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(1e-3)
    begun = watch(student, capture=CAPTURE)

    @tf.function
    def step(x: Any) -> None:
        given = teacher(x, training=False)
        with tf.GradientTape() as tape:
            loss = loss_of(given, student(x, training=True))
        optimizer.apply(tape.gradient(loss, student.trainable_variables), student.trainable_variables)

    for _ in range(n_steps):
        step(tf.constant(X))
    return begun


@pytest.mark.parametrize(("loss_of", "whose"), TOLD)
def test_one_side_alone_is_softened(watch: Any, read: Any, loss_of: Callable[..., Any], whose: str) -> None:
    (slip,) = found_in(read(train(watch, loss_of)))
    line = find_line(loss_of.__name__, sys.modules[__name__])
    assert (slip["whose"], slip["tempered"], slip["source"]["line"]) == (whose, pytest.approx(T), line)


@pytest.mark.parametrize("loss_of", NOT_TOLD.values(), ids=NOT_TOLD)
def test_what_is_softened_as_it_is_meant(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    assert not [one for one in found_in(read(train(watch, loss_of))) if "tempered" in one]


def test_a_student_that_is_softened_alone_is_told_with_its_cause(watch: Any, read: Any) -> None:
    (told,) = (one for one in diagnose(read(train(watch, student_alone, 130))).findings() if "temperature" in one.title)
    assert told.title.startswith(
        "Only the student is divided by the temperature of 4, not the teacher (test_distilled.py:"
    )
    assert told.hypotheses[0].cause.startswith("The temperature is missing in the softmax of the teacher")
