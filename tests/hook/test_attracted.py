"""Losses that only draw two outputs of one network together are told; those that hold samples apart are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

CAPTURE = ("gradient", "operation")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(32, 6)).astype(np.float32)
Y = RANDOM.normal(size=(32, 4)).astype(np.float32)


class Networks:
    """An encoder, a predictor, and an encoder of its own that no one trains."""

    def __init__(self) -> None:
        self.encoder = keras.Sequential(
            [keras.Input((6,)), layers.Dense(8), layers.BatchNormalization(), layers.ReLU(), layers.Dense(4)]
        )
        self.predictor = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.Dense(4)])
        self.teacher = keras.Sequential([keras.Input((6,)), layers.Dense(4)])
        self.judge = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.Dense(4)])
        self.norm = layers.BatchNormalization()
        self.norm.build((None, 4))
        self.jitter = layers.GaussianNoise(0.1)
        self.whole = keras.Model(self.encoder.inputs, self.predictor(self.encoder.outputs[0]))

    def encode(self, x: Any) -> Any:
        return self.encoder(x + tf.random.normal(tf.shape(x)), training=True)


def negative_cosine(p: Any, z: Any) -> Any:
    p, z = tf.math.l2_normalize(p, axis=-1), tf.math.l2_normalize(z, axis=-1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=-1))  # negative_cosine


def both_are_moved(nets: Networks, x: Any) -> Any:
    one, other = nets.encode(x), nets.encode(x)
    return 0.5 * negative_cosine(nets.predictor(one), other) + 0.5 * negative_cosine(nets.predictor(other), one)


def behind_a_normalisation(nets: Networks, x: Any) -> Any:
    one, other = (nets.norm(nets.encode(x), training=True) for _ in range(2))
    return negative_cosine(nets.predictor(one), other)


def behind_one_as_in_evaluation(nets: Networks, x: Any) -> Any:
    one, other = (keras.utils.normalize(nets.norm(nets.encode(x)), axis=1, order=2) for _ in range(2))
    return -keras.ops.mean(keras.ops.sum(one * other, axis=1))  # behind_one_as_in_evaluation


def one_is_stopped_behind_a_normalisation(nets: Networks, x: Any) -> Any:
    one, other = (nets.norm(nets.encode(x), training=True) for _ in range(2))
    return negative_cosine(nets.predictor(one), tf.stop_gradient(other))


def of_a_value_to_come_by_a_root(nets: Networks, x: Any) -> Any:
    """Both sides are moved, and one holds a reward: what is added to it has no factor of a root in common with it."""
    now, later = nets.encode(x), nets.encode(tf.reverse(x, [0]))
    root = tf.math.rsqrt(1.0 + tf.reduce_mean(tf.square(Y), axis=0))
    return tf.reduce_mean(tf.square(now - (later * 0.9 + Y * root)))


def squares_between_views(nets: Networks, x: Any) -> Any:
    one, other = nets.encode(x), nets.encode(x)
    return 1.0 + tf.reduce_mean(tf.square(one - other))  # squares_between_views


def by_a_loss_of_keras(nets: Networks, x: Any) -> Any:
    one, other = nets.encode(x), nets.encode(x)
    return keras.losses.CosineSimilarity()(one, nets.predictor(other))  # by_a_loss_of_keras


def a_divergence_of_targets(nets: Networks, x: Any) -> Any:
    asked = tf.nn.softmax(x[:, :4])
    return keras.losses.KLDivergence()(tf.nn.softmax(nets.whole(x)), asked)


def a_focal_loss(nets: Networks, x: Any) -> Any:
    """Its two factors are functions of one output."""
    given, is_asked = tf.sigmoid(nets.whole(x)), tf.constant(Y > 0)
    right = keras.ops.clip(tf.where(is_asked, given, tf.ones_like(given)), 1e-7, 1 - 1e-7)
    wrong = keras.ops.clip(tf.where(is_asked, tf.zeros_like(given), given), 1e-7, 1 - 1e-7)
    missed = tf.reduce_sum(0.25 * tf.pow(1.0 - right, 2.0) * tf.math.log(right))
    return -missed - tf.reduce_sum(0.75 * tf.pow(wrong, 2.0) * tf.math.log(1.0 - wrong))


def halves_of_one_batch(nets: Networks, x: Any) -> Any:
    both = nets.encode(tf.concat([x, x], 0))
    return negative_cosine(nets.predictor(both[:32]), both[32:])


def one_is_stopped(nets: Networks, x: Any) -> Any:
    one, other = nets.encode(x), nets.encode(x)
    return negative_cosine(nets.predictor(one), tf.stop_gradient(other))


def contrast(nets: Networks, x: Any) -> Any:
    one, other = (tf.math.l2_normalize(nets.encode(x), axis=-1) for _ in range(2))
    scores = tf.linalg.matmul(one, other, transpose_b=True) / 0.1
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(32), scores))


def spread_is_asked_for(nets: Networks, x: Any) -> Any:
    one, other = nets.encode(x), nets.encode(x)
    spread = tf.reduce_mean(tf.nn.relu(1.0 - tf.math.reduce_std(one, axis=0)))
    return tf.reduce_mean(tf.square(one - other)) + spread


def margin(nets: Networks, x: Any) -> Any:
    anchor, near, far = nets.encode(x), nets.encode(x), nets.encode(tf.reverse(x, [0]))
    closer = tf.reduce_sum(tf.square(anchor - near), -1) - tf.reduce_sum(tf.square(anchor - far), -1)
    return tf.reduce_mean(tf.maximum(closer + 1.0, 0.0))


def of_a_teacher(nets: Networks, x: Any) -> Any:
    return negative_cosine(nets.predictor(nets.encode(x)), nets.teacher(x))


def of_data(nets: Networks, x: Any) -> Any:
    return negative_cosine(nets.predictor(nets.encode(x)), Y)


def of_a_value_to_come(nets: Networks, x: Any) -> Any:
    """As the residual gradient of a value: both sides are moved, and one holds a reward."""
    now, later = nets.encode(x), nets.encode(tf.reverse(x, [0]))
    return tf.reduce_mean(tf.square(now - (Y + 0.9 * later)))


def of_data_where_there_are_any(nets: Networks, x: Any) -> Any:
    given = nets.encode(x)
    return tf.reduce_mean(tf.math.squared_difference(tf.where(x[:, :4] > 0, Y, given), given))


def between_views_where_both_are_seen(nets: Networks, x: Any) -> Any:
    one, other = (tf.where(x[:, :4] > 0, nets.encode(x), 0.0) for _ in range(2))
    return tf.reduce_mean(tf.square(one - other))  # between_views_where_both_are_seen


def whitened(nets: Networks, x: Any) -> Any:
    def whiten(z: Any) -> Any:
        factor = tf.linalg.cholesky(tf.linalg.matmul(z, z, transpose_a=True) / 32.0 + 1e-3 * tf.eye(4))
        return tf.transpose(tf.linalg.triangular_solve(factor, tf.transpose(z)))

    return tf.reduce_mean(tf.square(whiten(nets.encode(x)) - whiten(nets.encode(x))))


def of_derivatives(nets: Networks, x: Any) -> Any:
    """As an equation between two derivatives of one function."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = tf.reduce_sum(nets.predictor(tf.tanh(x[:, :4])), axis=1)
    slope = tape.gradient(value, x)
    return tf.reduce_mean(tf.square(slope[:, :1] - slope[:, 1:2]))


def of_places_that_are_hidden(nets: Networks, x: Any) -> Any:
    """As a masked autoencoder: what is drawn decides for both sides which places count, and is no weight of theirs."""
    drawn = nets.jitter(x, training=True)[:, :4]
    hidden = tf.argsort(tf.random.uniform([32, 4]), axis=-1)[:, :2]
    rebuilt = nets.predictor(drawn * tf.reduce_min(tf.one_hot(hidden, 4, 0.0, 1.0), axis=1))
    asked, given = (tf.gather(one, hidden, axis=1, batch_dims=1) for one in (drawn, rebuilt))
    return tf.reduce_mean(tf.square(asked - given))


def of_a_judge(nets: Networks, x: Any) -> Any:
    """As a game in which the other side rebuilds what this one makes, and is trained by a loss of its own."""
    made = nets.whole(x)
    return tf.reduce_mean(tf.abs(made - nets.judge(made)))


def of_a_helper(nets: Networks, x: Any) -> Any:
    """The same where it is trained by this loss: both come to be one number."""
    given = nets.encode(x)
    return tf.reduce_mean(tf.abs(given - nets.predictor(given)))  # of_a_helper


TOLD = {
    both_are_moved: "negative_cosine",
    squares_between_views: "squares_between_views",
    by_a_loss_of_keras: "by_a_loss_of_keras",
    between_views_where_both_are_seen: "between_views_where_both_are_seen",
    of_a_helper: "of_a_helper",
    behind_a_normalisation: "negative_cosine",
    behind_one_as_in_evaluation: "behind_one_as_in_evaluation",
    halves_of_one_batch: "negative_cosine",
}
NOT_TOLD = [
    *(one_is_stopped, contrast, spread_is_asked_for, margin, of_a_teacher, of_data, of_a_value_to_come, whitened),
    *(a_divergence_of_targets, a_focal_loss, one_is_stopped_behind_a_normalisation, of_a_value_to_come_by_a_root),
    *(of_a_judge, of_derivatives, of_data_where_there_are_any, of_places_that_are_hidden),
]


def train(watch: Any, loss_of: Callable[..., Any], n_steps: int = 3, *, is_outside: bool = False) -> Any:
    nets = Networks()
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(nets.whole)

    @tf.function
    def step(x: Any) -> None:
        target = nets.encode(x)
        with tf.GradientTape() as tape:
            loss = negative_cosine(nets.predictor(nets.encode(x)), target) if is_outside else loss_of(nets, x)
        given = nets.whole.trainable_variables
        pairs = zip(tape.gradient(loss, given), given, strict=True)
        optimizer.apply_gradients([(gradient, one) for gradient, one in pairs if gradient is not None])

    for _ in range(n_steps):
        step(tf.constant(X))
    return watched


@pytest.mark.parametrize("loss_of", TOLD)
def test_the_line_is_named(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    (found,) = [one for one in found_in(read(train(watch, loss_of))) if "limit" not in one]
    assert found["attracts"]
    assert found["source"]["line"] == find_line(TOLD[loss_of], sys.modules[__name__])


@pytest.mark.parametrize("loss_of", NOT_TOLD)
def test_what_holds_samples_apart_is_not_told(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    assert found_in(read(train(watch, loss_of))) == []


def test_what_is_made_outside_of_the_tape_is_not_moved(watch: Any, read: Any) -> None:
    assert found_in(read(train(watch, one_is_stopped, is_outside=True))) == []


def test_it_is_told_with_its_cause(watch: Any, read: Any) -> None:
    findings = diagnose(read(train(watch, both_are_moved, 150))).findings()
    (told,) = (one for one in findings if "pulls two outputs of one network together" in one.title)
    assert (told.kind, told.first_step) == ("loss_plateau", 0)
    assert told.hypotheses[0].cause.startswith(
        "The outputs collapse: nothing in the loss holds different samples apart"
    )
    assert "tf.stop_gradient(z)" in told.hypotheses[0].code


def distances(nets: Networks, x: Any) -> list[Any]:
    anchor, *others = (nets.encode(x) for _ in range(3))
    return [tf.reduce_sum(tf.square(anchor - one), -1) for one in others]


MARGINS = {
    "maximum": (lambda p, n: tf.maximum(p - n + 0.5, 0.0), 0.5),
    "relu": (lambda p, n: tf.nn.relu(p + 0.2 - n), 0.2),
    "margin first": (lambda p, n: tf.nn.relu(1.0 - (n - p)), 1.0),
    "of roots": (lambda p, n: tf.maximum(0.0, 0.3 + tf.sqrt(p + 1e-9) - tf.sqrt(n + 1e-9)), 0.3),
    "no margin": (lambda p, n: tf.nn.relu(p - n), None),
    "a gap that is allowed": (lambda p, n: tf.nn.relu(p - n - 0.1), None),
    "a sum": (lambda p, n: tf.nn.relu(p + n + 0.5), None),
    "of one distance": (lambda p, n: tf.nn.relu(1.0 - n) + p, None),
}


@pytest.mark.parametrize(("loss_of", "margin"), MARGINS.values(), ids=MARGINS)
def test_the_margin_of_two_distances(watch: Any, read: Any, loss_of: Callable[..., Any], margin: float | None) -> None:
    recording = read(train(watch, lambda nets, x: tf.reduce_mean(loss_of(*distances(nets, x)))))
    assert [one["margin"] for one in known_in(recording, "margin")] == [pytest.approx(margin)] * (margin is not None)
