"""Attention weights that add up to 1 along another axis than the one summed over: told with their line."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((256, 10, 8)).astype(np.float32)
Y = RANDOM.integers(0, 3, 256)


class Attention(layers.Layer):
    """Scaled dot products of projections, weighed by ``weigh`` and summed by ``total``."""

    def __init__(self, weigh, total):
        super().__init__()
        self.weigh, self.total = weigh, total
        self.query, self.key, self.value = (layers.Dense(8) for _ in range(3))

    def call(self, x):
        scores = tf.matmul(self.query(x), self.key(x), transpose_b=True) / 8**0.5
        return self.total(self.weigh(scores), self.value(x))


class Heads(layers.Layer):
    """Two heads of a product by `einsum`; the softmax along ``axis``."""

    def __init__(self, axis):
        super().__init__()
        self.axis = axis
        self.project = [layers.Dense(8) for _ in range(3)]

    def call(self, x):
        query, key, value = (tf.reshape(one(x), (-1, 10, 2, 4)) for one in self.project)
        scores = 0.5 * tf.einsum("bihd,bjhd->bhij", query, key)
        weights = tf.nn.dropout(tf.nn.softmax(scores, axis=self.axis), 0.1)  # Heads
        return tf.reshape(tf.einsum("bhij,bjhd->bihd", weights, value), (-1, 10, 8))


class Pooling(layers.Layer):
    """Places weighed by a score each, the softmax along ``axis``."""

    def __init__(self, axis):
        super().__init__()
        self.axis, self.score = axis, layers.Dense(1)

    def call(self, x):
        weights = tf.nn.softmax(self.score(tf.tanh(x)), axis=self.axis)  # Pooling
        return tf.reduce_sum(weights * x, axis=1)


class Clusters(layers.Layer):
    """Each place is divided among four clusters, and each cluster is the sum of its places."""

    def __init__(self):
        super().__init__()
        self.assign = layers.Dense(4)

    def call(self, x):
        return tf.matmul(tf.nn.softmax(self.assign(x)), x, transpose_a=True)


class Slots(layers.Layer):
    """Places compete for slots, whose shares are then divided by their sums."""

    def __init__(self):
        super().__init__()
        self.key, self.value = layers.Dense(8), layers.Dense(8)
        self.slots = layers.Dense(8)

    def call(self, x):
        scores = tf.matmul(self.slots(x[:, :4]), self.key(x), transpose_b=True)
        shares = tf.nn.softmax(scores, axis=1) + 1e-8
        return tf.matmul(shares / tf.reduce_sum(shares, axis=-1, keepdims=True), self.value(x))


class Routing(layers.Layer):
    """Places vote for units, and go to those whose sums agree with their votes: shares of a place among the units."""

    def __init__(self, total):
        super().__init__()
        self.total, self.votes = total, layers.Dense(4 * 6)

    def call(self, x):
        votes = tf.reshape(self.votes(x), (-1, 10, 4, 6))
        return self.total(votes, tf.reduce_mean(votes, axis=1))


def by_pairs(votes, sums):
    votes = votes[..., None]
    agreement = tf.matmul(votes, tf.tile(sums[:, None, ..., None], (1, 10, 1, 1, 1)), transpose_a=True)
    return tf.reduce_sum(tf.nn.softmax(agreement, axis=2) * votes, axis=1)


def by_einsum(votes, sums):
    shares = tf.nn.softmax(tf.einsum("bijd,bjd->bij", votes, sums), axis=2)
    return tf.einsum("bij,bijd->bjd", shares, votes)


def over_queries(scores):
    return tf.nn.softmax(scores, axis=1)  # over_queries


def over_batch(scores):
    return tf.nn.softmax(scores, axis=0)  # over_batch


def masked(scores):
    hidden = tf.linalg.band_part(tf.ones((10, 10)), -1, 0)
    return tf.nn.softmax(tf.where(hidden > 0, scores, -1e9), axis=-2)  # masked


def by_matmul(weights, value):
    return tf.matmul(weights, value)


def turned(weights, value):
    return tf.matmul(weights, value, transpose_a=True)


MISWEIGHED = {
    "over queries": (lambda: Attention(over_queries, by_matmul), "over_queries", "queries"),
    "over queries, masked": (lambda: Attention(masked, by_matmul), "masked", "queries"),
    "over keys, of which none is summed": (
        lambda: Attention(tf.nn.softmax, turned),
        None,
        "queries",
    ),
    "over the batch": (lambda: Attention(over_batch, by_matmul), "over_batch", "batch"),
    "heads": (lambda: Heads(-2), "Heads", "queries"),
    "a pooling over the batch": (lambda: Pooling(0), "Pooling", "batch"),
}
WELL = {
    "over keys": lambda: Attention(tf.nn.softmax, by_matmul),
    "over queries, which are summed": lambda: Attention(over_queries, turned),
    "heads": lambda: Heads(-1),
    "a pooling": lambda: Pooling(1),
    "Keras": lambda: lambda x: layers.MultiHeadAttention(2, 4)(x, x),
    "clusters": Clusters,
    "slots": Slots,
    "routing": lambda: Routing(by_pairs),
    "routing by einsum": lambda: Routing(by_einsum),
}


def fit(watch, make, n_epochs=1, **options):
    keras.utils.set_random_seed(0)
    inputs = keras.Input((10, 8))
    model = keras.Model(inputs, layers.Dense(3, name="out")(layers.Flatten()(make()(inputs))))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(1e-4), loss, **options)
    watched = watch(model, capture=("gradient", "operation"))
    model.fit(X, Y, batch_size=16, epochs=n_epochs, verbose=0)
    return watched


@pytest.mark.parametrize(("make", "marker", "along"), MISWEIGHED.values(), ids=MISWEIGHED)
def test_the_softmax_is_named(watch, read, make, marker, along):
    (found,) = found_in(read(fit(watch, make)))
    assert (found["type"], found["along"]) == ("Softmax", along)
    if marker:
        assert found["source"]["line"] == find_line(marker, sys.modules[__name__])


@pytest.mark.parametrize("make", WELL.values(), ids=WELL)
def test_others_are_not(watch, read, make):
    assert found_in(read(fit(watch, make))) == []


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["fit", "jit"])
def test_it_is_told_while_little_is_learned(watch, read, options):
    findings = diagnose(read(fit(watch, MISWEIGHED["over queries"][0], 8, **options))).findings()
    (found,) = [one for one in findings if "softmax" in one.title]
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    line = find_line("over_queries", sys.modules[__name__])
    assert found.hypotheses[0].cause == f"The softmax of an attention runs over the wrong axis (test_weighed.py:{line})"


def test_a_loop_with_batches_of_a_known_size(watch, read):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((10, 8)), Pooling(0), layers.Dense(3)])
    optimizer, loss_of = keras.optimizers.SGD(1e-4), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    watched = watch(model, capture=("gradient", "operation"))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    step(tf.constant(X[:16]), tf.constant(Y[:16]))
    (found,) = found_in(read(watched))
    assert found["along"] == "batch"


def test_a_gradient_that_it_cancels_is_no_finding_of_its_own(watch, read):
    keras.utils.set_random_seed(0)
    inputs = keras.Input((10, 8))
    pooled = layers.GlobalAveragePooling1D()(Attention(over_queries, by_matmul)(inputs))  # the weights add up to 1
    model = keras.Model(inputs, layers.Dense(3)(pooled))
    model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    watched = watch(model, budget=0)
    model.fit(X, Y, batch_size=16, epochs=8, verbose=0)
    (found,) = [one for one in diagnose(read(watched)).findings() if one.first_step == 0]
    assert "softmax" in found.title
