"""Gradients that are turned round on their way back: an adversary's outputs need not follow its targets."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, known_in

CAPTURE = ("gradient", "activation", "input", "operation")


N, WIDTH = 64, 6
HEAD = ["rival", "domain"]


@tf.custom_gradient
def turned(x, rate):
    def gradient(upstream):
        return -rate * upstream, None

    return tf.identity(x), gradient


@tf.custom_gradient
def turned_by_a_number(x, rate):
    def gradient(upstream):
        return upstream * -1.0, None

    return x, gradient


@tf.custom_gradient
def weakened(x, rate):
    def gradient(upstream):
        return 0.1 * upstream, None

    return tf.identity(x), gradient


def held(x, rate):
    return tf.stop_gradient(x + rate * x) - rate * x


def held_twice(x, rate):
    return tf.stop_gradient(2.0 * x) - x


def as_it_is(x, rate):
    return x


def data(n_steps):
    """Samples, half of each of two domains that one column tells apart, with labels that another one tells."""
    random = np.random.default_rng(0)
    x = random.normal(size=(n_steps, N, WIDTH)).astype("float32")
    domain = np.tile(np.arange(N) % 2, (n_steps, 1)).astype("float32")[..., None]
    x[..., 0] += 2.0 * domain[..., 0]
    return x, (x[..., 1:2] > 0).astype("float32"), domain


def train(watch, between, n_steps=3, **options):
    keras.utils.set_random_seed(0)
    x = keras.Input((WIDTH,))
    h = layers.Dense(16, activation="relu", name="features")(x)
    body = keras.Model(x, [h, layers.Dense(1, name="label")(h)])
    rival = keras.Sequential(
        [keras.Input((16,)), layers.Dense(16, activation="relu", name="rival"), layers.Dense(1, name="domain")]
    )
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
    entropy = keras.losses.BinaryCrossentropy(from_logits=True)
    watched = watch(body, rival)
    variables = [*body.trainable_variables, *rival.trainable_variables]

    @tf.function(**options)
    def step(x, y, domain):
        with tf.GradientTape() as tape:
            h, scores = body(x, training=True)
            judged = rival(between(h, tf.constant(1.0)), training=True)
            loss = entropy(y, scores) + entropy(domain, judged)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    for batch in zip(*data(n_steps), strict=True):
        step(*map(tf.constant, batch))
    return watched


def opposed_in(recording):
    return known_in(recording, "opposes")


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize("between", [turned, turned_by_a_number, held, held_twice])
def test_a_place_where_gradients_are_turned_round(watch, read, between, options):
    recording = read(train(watch, between, **options))
    (found,) = opposed_in(recording)
    assert [path.rpartition("/")[2] for path in found["opposes"]] == HEAD
    correlated = [name for name in recording.tables[0]["scalars"] if name.startswith("target_correlation")]
    assert len(correlated) == 1  # that of the other target


@pytest.mark.parametrize("between", [as_it_is, weakened])
def test_a_gradient_that_keeps_its_sign(watch, read, between):
    recording = read(train(watch, between))
    assert not opposed_in(recording)
    assert len([name for name in recording.tables[0]["scalars"] if name.startswith("target_correlation")]) == 2


def test_an_adversary_that_is_told_nothing_is_no_finding(watch, read):
    """Its loss comes to stand where guessing is, and its units may die."""
    assert diagnose(read(train(watch, turned, 1200))).findings() == []


@pytest.mark.parametrize("n_before", [0, 30], ids=["side by side", "after another"])
def test_players_that_are_watched_one_by_one(watch, read, n_before):
    """Each run knows of the layers that the other has too, unless one is trained first and used then."""
    rival = keras.Sequential(
        [keras.Input((WIDTH,)), layers.Dense(4, name="told"), layers.Dense(1, "sigmoid")], name="rival"
    )
    rival.compile(keras.optimizers.SGD(0.1), "binary_crossentropy", jit_compile=False)
    one = watch(rival)
    x, labels = np.ones((8, WIDTH), "float32"), np.ones((8, 1), "float32")
    for _ in range(n_before):
        rival.train_on_batch(x, labels)
    one._reader.read()
    code = keras.Input((3,))
    both = keras.Model(code, rival(layers.Dense(WIDTH, name="made")(code)))
    both.compile(keras.optimizers.SGD(0.1), "binary_crossentropy", jit_compile=False)
    other = watch(both)
    for _ in range(3):
        rival.train_on_batch(x, labels)
        both.train_on_batch(np.ones((8, 3), "float32"), labels)
    for begun in (other, one):
        shared = [slip["opposes"] for slip in known_in(read(begun), "opposes") if slip["type"] == "Watch"]
        assert bool(shared) == (n_before == 0)
        assert all({"rival/told", "rival"} <= set(paths) for paths in shared)
