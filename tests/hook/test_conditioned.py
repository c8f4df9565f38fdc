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


class Judge:
    """A critic, by how it takes a label in."""

    def __init__(self, how):
        self.how = how
        self.body, self.score = layers.Dense(8, "relu"), layers.Dense(1)
        self.table, self.vector = layers.Embedding(LABELS, 8), layers.Dense(8)

    @property
    def variables(self):
        return [one for part in (self.body, self.score, self.table, self.vector) for one in part.trainable_variables]

    def __call__(self, x, label):
        if self.how == "joined":
            return self.score(self.body(tf.concat([x, self.table(label)], 1)))
        if self.how == "one_hot":
            return self.score(self.body(tf.concat([x, tf.one_hot(label, LABELS)], 1)))
        if self.how == "scaled":
            return self.score(self.body(x) * self.table(label))
        if self.how == "projected":
            h = self.body(x)
            return self.score(h) + tf.reduce_sum(h * self.vector(tf.one_hot(label, LABELS)), 1, keepdims=True)
        return self.score(self.body(x))


def play_labels(watch, how, judged_by, *, n_steps=1, also_own=False):
    """Both steps of a GAN that is asked for a class by its number."""
    keras.utils.set_random_seed(0)
    noise, asked = keras.Input((LATENT,)), keras.Input((), dtype="int32")
    h = layers.Dense(8, "relu")(layers.Concatenate()([noise, layers.Embedding(LABELS, 4)(asked)]))
    generator, critic = keras.Model([noise, asked], layers.Dense(WIDTH)(h)), Judge(how)
    optimizers = [keras.optimizers.Adam(1e-3) for _ in range(2)]
    watched = watch(generator)

    @tf.function
    def step(x, real):
        n = tf.shape(x)[0]
        wanted = tf.random.uniform((n,), 0, LABELS, tf.int32)
        with tf.GradientTape() as tape:
            fake = generator([tf.random.normal((n, LATENT)), wanted], training=True)
            scores = critic(x, real), critic(fake, judged_by(wanted, real)), critic(x, tf.random.shuffle(real))
            loss = tf.reduce_mean(sum(map(tf.nn.softplus, (-scores[0], scores[1], scores[2]))))
        optimizers[0].apply(tape.gradient(loss, critic.variables), critic.variables)
        with tf.GradientTape() as tape:
            fake = generator([tf.random.normal((n, LATENT)), wanted], training=True)
            loss = tf.reduce_mean(tf.nn.softplus(-critic(fake, judged_by(wanted, real))))
            if also_own:
                loss += tf.reduce_mean(tf.nn.softplus(-critic(fake, wanted)))
        optimizers[1].apply(tape.gradient(loss, generator.trainable_variables), generator.trainable_variables)

    random = np.random.default_rng(0)
    for _ in range(n_steps):
        step(random.normal(size=(N, WIDTH)).astype("float32"), random.integers(0, LABELS, N).astype("int32"))
    return watched


@pytest.mark.parametrize("how", ["joined", "one_hot", "scaled", "projected"])
@pytest.mark.parametrize("judged_by", [others, lambda wanted, real: tf.random.shuffle(wanted)])
def test_another_label_is_told(watch, read, how, judged_by):
    (found,) = known_in(read(play_labels(watch, how, judged_by)), "conditions")
    assert found["conditions"] == [1]
    lines = {"joined": "self.table(", "one_hot": "one_hot", "scaled": "* self.table", "projected": "h * "}
    assert lines[how] in found["source"]["code"]


@pytest.mark.parametrize("how", ["joined", "one_hot", "scaled", "projected"])
@pytest.mark.parametrize("judged_by", [own, lambda wanted, real: tf.where(wanted > 9, 0, tf.cast(wanted, tf.int32))])
def test_a_label_of_its_own_is_not(watch, read, how, judged_by):
    assert known_in(read(play_labels(watch, how, judged_by)), "conditions") == []


def test_nor_is_one_beside_its_own_or_none(watch, read):
    assert known_in(read(play_labels(watch, "joined", others, also_own=True)), "conditions") == []
    assert known_in(read(play_labels(watch, "none", others)), "conditions") == []
    assert known_in(read(play_labels(watch, "joined", lambda wanted, real: tf.zeros_like(real))), "conditions") == []


def test_it_is_told_of_labels_too(watch, read):
    findings = diagnose(read(play_labels(watch, "joined", others, n_steps=130))).findings()
    (found,) = [one for one in findings if "judged by another condition" in one.title]
    assert found.evidence["summary"].startswith("The generator's samples were made for one label each.")
