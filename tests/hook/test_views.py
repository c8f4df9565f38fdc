"""Losses that ask of each row of a batch which other one is the same sample."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.slips.graph.views import find_views
from tests.hook.diagnosis import diagnose, find_line, known_in

CAPTURE = ("gradient", "operation")

N, WIDTH, SIZE = 8, 6, 4


def in_halves(z1, z2):
    return tf.concat([z1, z2], 0)


def in_turn(z1, z2):
    return tf.reshape(tf.stack([z1, z2], axis=1), (2 * tf.shape(z1)[0], -1))  # in turn


def packed_in_halves(z1, z2):
    return tf.reshape(tf.stack([z1, z2]), (-1, SIZE))


def turned(z1, z2):
    return tf.reshape(tf.transpose(tf.stack([z1, z2]), [1, 0, 2]), [-1, SIZE])


def of_halves(n):
    return tf.concat([tf.range(n) + n, tf.range(n)], axis=0)


def of_halves_rolled(n):
    return (tf.range(2 * n) + n) % (2 * n)


def of_neighbours(n):
    return tf.bitwise.bitwise_xor(tf.range(2 * n), 1)


def of_neighbours_paired(n):
    places = tf.range(2 * n)
    return tf.where(places % 2 == 0, places + 1, places - 1)


def sparse(likeness, target):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(target, likeness)


def dense(likeness, target):
    return tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(target, tf.shape(likeness)[0]), likeness)


def of_keras(likeness, target):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(target, likeness)


def augment(x):
    return x * tf.random.uniform((tf.shape(x)[0], 1), 0.6, 1.4) + tf.random.normal(tf.shape(x))


def nt_xent(z, target, ask):
    z = tf.math.l2_normalize(z, axis=1)
    likeness = tf.matmul(z, z, transpose_b=True) / 0.2
    return tf.reduce_mean(ask(likeness - 1e9 * tf.eye(tf.shape(z)[0]), target))


def slips_of(loss_of, *, n=None):
    """What is found in a step of one argument, ``[n, WIDTH]``."""
    network = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "relu"), layers.Dense(SIZE)])
    step = tf.function(lambda x: loss_of(network, x)).get_concrete_function(tf.TensorSpec((n, WIDTH)))
    return find_views(step.graph.get_operations(), [])


def views_of(network, x):
    return network(augment(x)), network(augment(x))


@pytest.mark.parametrize("n", [None, N])
@pytest.mark.parametrize(
    ("lay", "places"),
    [
        (in_turn, of_halves),
        (in_turn, of_halves_rolled),
        (turned, of_halves),
        (in_halves, of_neighbours),
        (in_halves, of_neighbours_paired),
        (packed_in_halves, of_neighbours),
    ],
)
def test_places_of_another_order_are_told(lay, places, n):
    def loss_of(network, x):
        return nt_xent(lay(*views_of(network, x)), places(tf.shape(x)[0]), sparse)

    (found,) = slips_of(loss_of, n=n)
    n_rows, asked, partner = found["positives"]
    assert (asked, partner) == ((n_rows // 2, 1) if places in (of_halves, of_halves_rolled) else (1, n_rows // 2))
    if lay is in_turn:
        assert found["source"]["line"] == find_line("in turn", sys.modules[__name__])


@pytest.mark.parametrize("n", [None, N])
@pytest.mark.parametrize("ask", [sparse, dense, of_keras])
@pytest.mark.parametrize(
    ("lay", "places", "is_slip"),
    [
        (in_turn, of_neighbours, False),
        (turned, of_neighbours_paired, False),
        (in_halves, of_halves, False),
        (packed_in_halves, of_halves_rolled, False),
        (in_turn, of_halves, True),
    ],
)
def test_places_of_that_order_are_not(lay, places, is_slip, ask, n):
    def loss_of(network, x):
        return nt_xent(lay(*views_of(network, x)), places(tf.shape(x)[0]), ask)

    (found,) = slips_of(loss_of, n=n)
    is_told = is_slip and not (ask is dense and n is None)  # of a one-hot table as long as its batch nothing is known
    assert ("positives" in found, "contends" in found) == (is_told, not is_told)


def test_rows_that_were_laid_before_the_network_are_followed_through_it():
    def loss_of(lay, places):
        def loss(network, x):
            return nt_xent(network(lay(augment(x), augment(x))), places(tf.shape(x)[0]), sparse)

        return loss

    def twice(one, _):
        return tf.repeat(one, 2, axis=0)

    assert "contends" in slips_of(loss_of(in_halves, of_halves))[0]
    assert "contends" in slips_of(loss_of(twice, of_neighbours), n=N)[0]
    assert slips_of(loss_of(in_halves, of_neighbours))[0]["positives"][1] == 1
    assert slips_of(loss_of(twice, of_halves), n=N)[0]["positives"][2] == 1


def test_what_lies_otherwise_already_is_not_judged():
    def of_a_sorted_batch(network, x):  # neighbours are pairs as they are given, and are described half by half
        return nt_xent(in_halves(network(x[: N // 2]), network(x[N // 2 :])), of_neighbours(N // 2), sparse)

    def of_shuffled(network, x):
        z = tf.random.shuffle(in_turn(*views_of(network, x)))
        return nt_xent(z, of_halves(tf.shape(x)[0]), sparse)

    for loss_of in (of_a_sorted_batch, of_shuffled):
        assert "contends" in slips_of(loss_of, n=N)[0]


def test_two_tables_of_the_same_samples_are_asked_for_the_same_place():
    def loss_of(roll):
        def loss(network, x):
            z1, z2 = views_of(network, x)
            likeness = tf.matmul(z1, tf.transpose(z2))
            return tf.reduce_mean(sparse(likeness, tf.roll(tf.range(tf.shape(x)[0]), roll, 0)))

        return loss

    assert "contends" in slips_of(loss_of(0))[0]
    assert slips_of(loss_of(1), n=N)[0]["positives"] == [N, N - 1, 0]


def test_a_classifier_is_none():
    kernel = tf.Variable(tf.ones((5, SIZE)))

    def loss(network, x):
        scores = tf.matmul(network(x), tf.cast(kernel, tf.float32), transpose_b=True)
        return tf.reduce_mean(sparse(scores, tf.zeros(tf.shape(x)[0], tf.int32)))

    assert slips_of(loss) == []


def play(watch, lay, *, n_steps):
    keras.utils.set_random_seed(0)
    network = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "relu"), layers.Dense(SIZE)])
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(network)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            z = lay(network(augment(x), training=True), network(augment(x), training=True))
            loss = nt_xent(z, of_halves(tf.shape(x)[0]), sparse)
        optimizer.apply(tape.gradient(loss, network.trainable_variables), network.trainable_variables)

    random = np.random.default_rng(0)
    for _ in range(n_steps):
        step(random.normal(size=(N, WIDTH)).astype("float32"))
    return watched


def test_it_is_told_with_its_cause(watch, read):
    findings = diagnose(read(play(watch, in_turn, n_steps=130))).findings()
    (found,) = [one for one in findings if "rows of other samples" in one.title]
    assert found.hypotheses[0].cause.startswith("The rows are laid in another order")


def test_a_right_order_tells_nothing(watch, read):
    recording = read(play(watch, in_halves, n_steps=2))
    assert (len(known_in(recording, "contends")), known_in(recording, "positives")) == (1, [])
