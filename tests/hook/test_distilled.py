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


LABELS = tf.argmax(X[:, :3], 1)


def hard(y: Any, scores: Any) -> Any:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores))


def soft(t: Any, s: Any) -> Any:
    return T**2 * divergence(tf.nn.softmax(t / T), tf.nn.softmax(s / T))


def by_hand(y: Any, scores: Any) -> Any:
    return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(y, 3) * tf.nn.log_softmax(scores), -1))


TAUGHT = {
    "softened": (lambda y, t, s: 0.1 * hard(y, s) + 0.9 * soft(t, s), "all", True),
    "by a cross-entropy": (
        lambda y, t, s: by_hand(y, s) + tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(t), s)),
        "all",
        True,
    ),
    "the student's variables": (lambda y, t, s: 0.1 * hard(y, s) + 0.9 * soft(t, s), "student", False),
    "without a gradient": (lambda y, t, s: hard(y, s) + soft(tf.stop_gradient(t), s), "all", False),
    "two that learn from one another": (lambda y, t, s: hard(y, s) + soft(t, s) + hard(y, t), "all", False),
    "two, by hand": (lambda y, t, s: hard(y, s) + soft(t, s) + by_hand(y, t), "all", False),
    "no labels": (lambda y, t, s: soft(t, s), "all", False),
    "with another task": (lambda y, t, s: hard(y, s) + soft(t, s) + tf.reduce_mean(tf.square(t - 1)), "all", False),
}


@pytest.mark.parametrize(("loss_of", "given", "is_told"), TAUGHT.values(), ids=TAUGHT)
def test_a_teacher_that_is_trained(watch: Any, read: Any, loss_of: Any, given: str, is_told: bool) -> None:
    keras.utils.set_random_seed(0)
    teacher = keras.Sequential([keras.Input((6,)), layers.Dense(16, "relu"), layers.Dense(3, name="teacher_head")])
    student = keras.Sequential([keras.Input((6,)), layers.Dense(4, "relu"), layers.Dense(3, name="student_head")])
    variables = student.trainable_variables + (teacher.trainable_variables if given == "all" else [])
    optimizer = keras.optimizers.SGD(1e-3)
    begun = watch(student, capture=CAPTURE)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(y, teacher(x, training=False), student(x, training=True))
        gradients = zip(tape.gradient(loss, variables), variables, strict=True)
        optimizer.apply_gradients([(one, of) for one, of in gradients if one is not None])

    for _ in range(130 if is_told else 2):
        step(tf.constant(X), LABELS)
    recording = read(begun)
    found = [one for one in found_in(recording) if "taught" in one]
    assert [one["taught"].rpartition("/")[2] for one in found] == ["student_head"] * is_told
    told = [one for one in diagnose(recording).findings() if "to be like its student" in one.title]
    assert [one.hypotheses[0].cause.startswith("The weights of the teacher are among") for one in told] == [
        True
    ] * is_told


class Distiller(keras.Model):
    """As the example of Keras' has it: its teacher is among what it holds."""

    def __init__(self, student: Any, teacher: Any) -> None:
        super().__init__()
        self.student, self.teacher = student, teacher

    def call(self, x: Any) -> Any:
        return self.student(x)

    def compute_loss(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None, training: bool = True) -> Any:
        return 0.1 * hard(y, y_pred) + 0.9 * soft(self.teacher(x, training=False), y_pred)


@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_teacher_that_a_model_holds(watch: Any, read: Any, is_frozen: bool) -> None:
    teacher = keras.Sequential([keras.Input((6,)), layers.Dense(16, "relu"), layers.Dense(3)])
    teacher.trainable = not is_frozen
    model = Distiller(keras.Sequential([keras.Input((6,)), layers.Dense(3)]), teacher)
    model.compile("sgd")
    begun = watch(model, capture=CAPTURE)
    model.fit(X, LABELS.numpy(), batch_size=8, verbose=0)
    assert bool([one for one in found_in(read(begun)) if "taught" in one]) != is_frozen
