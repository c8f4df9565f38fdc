"""Cosines that a temperature makes smaller before their softmax."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

CAPTURE = ("gradient", "operation")


N, WIDTH = 32, 6
RANDOM = np.random.default_rng(0)
ONE = RANDOM.normal(size=(N, WIDTH)).astype("float32")
OTHER = (ONE @ RANDOM.normal(size=(WIDTH, WIDTH))).astype("float32")


def choose(logits):
    labels = tf.range(tf.shape(logits)[0])
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def multiplied(a, b):
    a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
    return choose(tf.matmul(a, b, transpose_b=True) * 0.07)  # multiplied


def divided_by_its_inverse(a, b):
    a, b = (one / tf.norm(one, axis=-1, keepdims=True) for one in (a, b))
    logits = tf.einsum("if,jf->ij", a, b) / 20.0  # divided_by_its_inverse
    return -tf.reduce_mean(tf.linalg.diag_part(tf.nn.log_softmax(tf.transpose(logits))))


def divided(a, b):
    a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
    return choose(tf.matmul(a, b, transpose_b=True) / 0.07)


def as_they_are(a, b):
    a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
    return choose(tf.matmul(a, b, transpose_b=True))


def of_any_length(a, b):
    return choose(tf.matmul(a, b, transpose_b=True) * 0.07)


def gap(a, b):
    return tf.reduce_mean(1.0 - keras.losses.cosine_similarity(a, b))  # gap


def gap_of_the_class(a, b):
    return 1 - keras.losses.CosineSimilarity()(a, b)  # gap_of_the_class


def distance(a, b):
    return tf.reduce_mean(1.0 + keras.losses.cosine_similarity(a, b))


def distance_by_hand(a, b):
    a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
    return tf.reduce_mean(1.0 - tf.reduce_sum(a * b, axis=-1))


def as_a_loss(a, b):
    return tf.reduce_mean(keras.losses.cosine_similarity(a, b))


def train(watch, loss_of, n_steps=2, *, last=(), **options):
    keras.utils.set_random_seed(0)
    towers = [
        keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "tanh"), layers.Dense(8), *last]) for _ in range(2)
    ]
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(*towers)
    variables = [one for tower in towers for one in tower.trainable_variables]

    @tf.function(**options)
    def step(one, other):
        with tf.GradientTape() as tape:
            loss = loss_of(towers[0](one, training=True), towers[1](other, training=True))
        optimizer.apply(tape.gradient(loss, variables), variables)

    for _ in range(n_steps):
        step(tf.constant(ONE), tf.constant(OTHER))
    return watched


def cooled_in(recording):
    return [one for one in found_in(recording) if "cosines" in one]


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize(("loss_of", "factor"), [(multiplied, 0.07), (divided_by_its_inverse, 0.05)])
def test_the_line_is_named(watch, read, loss_of, factor, options):
    (found,) = cooled_in(read(train(watch, loss_of, **options)))
    assert found["source"]["line"] == find_line(loss_of.__name__, sys.modules[__name__])
    assert found["cosines"] == pytest.approx(factor)


def test_lengths_that_a_layer_makes_1(watch, read):
    recording = read(train(watch, of_any_length, last=[layers.UnitNormalization()]))
    assert [round(one["cosines"], 3) for one in cooled_in(recording)] == [0.07]


@pytest.mark.parametrize("loss_of", [divided, as_they_are, of_any_length])
def test_others_are_not_told(watch, read, loss_of):
    assert not cooled_in(read(train(watch, loss_of)))


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize("loss_of", [gap, gap_of_the_class])
def test_1_minus_a_negative_cosine(watch, read, loss_of, options):
    (found,) = [one for one in found_in(read(train(watch, loss_of, **options))) if "negated" in one]
    assert found["source"]["line"] == find_line(loss_of.__name__, sys.modules[__name__])


@pytest.mark.parametrize("loss_of", [distance, distance_by_hand, as_a_loss])
def test_cosines_with_the_right_sign(watch, read, loss_of):
    assert not [one for one in found_in(read(train(watch, loss_of))) if "negated" in one]


def test_the_sign_is_told_with_the_line_as_it_should_be(watch, read):
    (found,) = [one for one in diagnose(read(train(watch, gap, 130))).findings() if "wrong sign" in one.title]
    assert "return tf.reduce_mean(1.0 + keras.losses.cosine_similarity(a, b))" in found.hypotheses[0].code


def test_it_is_told_with_its_cause(watch, read):
    (found,) = [one for one in diagnose(read(train(watch, multiplied, 130))).findings() if "Cosines" in one.title]
    assert found.title.startswith("Cosines are scaled by 0.07 before the softmax")
    assert found.hypotheses[0].cause.startswith("The cosines are multiplied by the temperature, not divided by it")


def similar(a, b):
    a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
    return tf.reduce_sum(a * b, axis=-1)


def class_negated(a, b):
    return -keras.losses.CosineSimilarity()(a, b)  # class_negated


def with_another(a, b):
    return tf.reduce_mean(similar(a, tf.roll(b, 1, 0))) - tf.reduce_mean(similar(a, b))


def beside_a_loss(a, b):
    return tf.reduce_mean(tf.square(a - OTHER[:, :1])) + 0.1 * tf.reduce_mean(similar(a, b))


def within_a_margin(a, b):
    return tf.reduce_mean(tf.nn.relu(similar(a, b) - 0.2))


@pytest.mark.parametrize(
    ("loss_of", "wanted"),
    [
        (class_negated, ["output"]),
        (lambda a, b: tf.reduce_mean(similar(a, b)), ["output"]),
        (lambda a, b: 0.5 * tf.reduce_mean(similar(a, b)) + 0.5 * tf.reduce_mean(similar(b[::-1], a)), ["output"]),
        (distance_by_hand, []),
        (as_a_loss, []),
        (gap, []),
        (with_another, []),
        (beside_a_loss, []),
        (within_a_margin, []),
    ],
)
def test_cosines_that_are_made_small(watch, read, loss_of, wanted):
    assert [one["repels"] for one in found_in(read(train(watch, loss_of))) if "repels" in one] == wanted


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [
        (lambda y, p: -keras.losses.cosine_similarity(y, p), ["target"]),
        (lambda y, p: tf.reduce_mean(tf.square(y - p)) - keras.losses.cosine_similarity(y, p), []),
        ("cosine_similarity", []),
        (lambda y, p: 1.0 + keras.losses.cosine_similarity(y, p), []),
    ],
)
def test_cosines_with_targets_that_are_made_small(watch, read, loss, wanted):
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(WIDTH)])
    model.compile(keras.optimizers.SGD(0.01), loss)
    watched = watch(model)
    model.fit(ONE, OTHER, batch_size=16, verbose=0)
    assert [one["repels"] for one in found_in(read(watched)) if "repels" in one] == wanted


class Margin(layers.Layer):
    """Scores by the angle to each class's own vector, the one of its label made larger."""

    def __init__(self, m, form):
        super().__init__()
        self.m, self.form = m, form

    def build(self, shapes):
        self.w = self.add_weight(shape=(shapes[0][-1], 4), initializer="glorot_uniform")

    def call(self, inputs):
        x, y = inputs
        cosine = tf.matmul(tf.math.l2_normalize(x, axis=1), tf.math.l2_normalize(self.w, axis=0))
        own = tf.one_hot(tf.cast(y, tf.int32), 4)  # Margin
        if self.form == "where":
            return 16.0 * tf.where(tf.cast(own, tf.bool), cosine - self.m, cosine)
        if self.form == "blend":
            return 16.0 * (own * (cosine - self.m) + (1.0 - own) * cosine)
        return 16.0 * cosine + tf.matmul(own, tf.eye(4) * 0.0) if self.form == "table" else 16.0 * cosine


@pytest.mark.parametrize(("form", "is_told"), [("where", True), ("blend", True), ("table", False), ("none", False)])
def test_scores_that_their_own_label_changes(watch, read, form, is_told):
    """As in a network that is trained with a margin, and used without."""
    x, label = keras.Input((WIDTH,)), keras.Input(())
    scores = Margin(0.3, form)([layers.Dense(8)(x), label])
    model = keras.Model([x, label], layers.Softmax()(scores))
    model.compile("adam", "sparse_categorical_crossentropy", jit_compile=False)
    watched = watch(model)
    y = RANDOM.integers(0, 4, N)
    model.fit([ONE, y.astype("float32")], y, batch_size=N, epochs=2, verbose=0)
    recording = read(watched)
    assert [one["source"]["line"] for one in known_in(recording, "handicaps")] == (
        [find_line("Margin", sys.modules[__name__])] if is_told else []
    )
