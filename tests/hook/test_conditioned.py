"""Conditions that a generator was given and its judge was not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, known_in

CAPTURE = ("gradient", "operation")


N, LATENT, WIDTH, LABELS = 16, 4, 6, 3


def build(width, out):
    """Sample or noise, with a label."""
    x, label = keras.Input((width,)), keras.Input((LABELS,))
    h = layers.Dense(8, "relu")(layers.Concatenate()([x, label]))
    return keras.Model([x, label], layers.Dense(out)(h))


def labels():
    return tf.one_hot(tf.random.uniform((N,), 0, LABELS, tf.int32), LABELS)


def play(watch, judged_by, *, n_steps=2, trains_both=False):
    """The generator's step of a conditional GAN; or of an encoder and a decoder, that are trained together."""
    keras.utils.set_random_seed(0)
    generator, critic = build(LATENT, WIDTH), build(WIDTH, 1)
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(generator)
    variables = [*generator.trainable_variables, *(critic.trainable_variables if trains_both else ())]

    @tf.function
    def step(real):
        wanted = labels()
        with tf.GradientTape() as tape:
            fake = generator([tf.random.normal((N, LATENT)), wanted], training=True)
            score = critic([fake, judged_by(wanted, real)], training=True)  # play
            loss = tf.reduce_mean(tf.nn.softplus(-score))
        optimizer.apply(tape.gradient(loss, variables), variables)

    random = np.random.default_rng(0)
    for _ in range(n_steps):
        step(tf.constant(np.eye(LABELS, dtype="float32")[random.integers(0, LABELS, N)]))
    return watched


def own(wanted, real):
    return wanted


def others(wanted, real):
    return real


def drawn_again(wanted, real):
    return labels()


@pytest.mark.parametrize("judged_by", [others, drawn_again])
def test_another_condition_is_told(watch, read, judged_by):
    (found,) = known_in(read(play(watch, judged_by)), "conditions")
    assert (found["type"], found["conditions"]) == ("ConcatV2", [LABELS])
    assert found["source"]["line"] == find_line("play", sys.modules[__name__])


def test_the_same_is_not(watch, read):
    assert known_in(read(play(watch, own)), "conditions") == []


def test_networks_that_are_trained_together_may_be_asked_for_different_things(watch, read):
    assert known_in(read(play(watch, others, trains_both=True)), "conditions") == []


def test_a_cycle_of_one_network_is_none(watch, read):
    network = build(WIDTH, WIDTH)
    watched = watch(network)
    optimizer = keras.optimizers.Adam(1e-3)

    @tf.function
    def step(x, now, then):
        with tf.GradientTape() as tape:
            back = network([network([x, then], training=True), now], training=True)
            loss = tf.reduce_mean(tf.square(back - x))
        optimizer.apply(tape.gradient(loss, network.trainable_variables), network.trainable_variables)

    step(tf.ones((N, WIDTH)), labels(), labels())
    assert known_in(read(watched), "conditions") == []


def test_it_is_told_with_its_cause(watch, read):
    findings = diagnose(read(play(watch, others, n_steps=130))).findings()
    (found,) = [one for one in findings if "judged by another condition" in one.title]
    assert found.hypotheses[0].cause.startswith("The discriminator is given the condition of other samples")
