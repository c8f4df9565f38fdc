"""Labels that begin with the blank of a CTC loss."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.protocol import BLANK_PLACE
from tests.hook.diagnosis import diagnose, known_in
from tests.hook.test_paired import leaked

CAPTURE = ("gradient", "operation")
pytestmark = pytest.mark.rows


N, LENGTH, N_FRAMES, N_LABELS = 8, 3, 12, 4
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, N_FRAMES, 5)).astype("float32")


def labels(lowest):
    """Sequences of labels that count from here; without two alike in a row."""
    found = np.array([RANDOM.permutation(N_LABELS)[:LENGTH] for _ in range(N)], "int32")
    found[0] = range(LENGTH)
    return found + lowest


def build():
    return keras.Sequential([keras.Input((N_FRAMES, 5)), layers.Dense(8, "tanh"), layers.Dense(N_LABELS + 1)])


def by_hand(watch, lowest, n_steps=3, **options):
    keras.utils.set_random_seed(0)
    model, optimizer = build(), keras.optimizers.Adam(1e-3)
    watched = watch(model)
    lengths = tf.fill([N], LENGTH), tf.fill([N], N_FRAMES)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            scores = model(x, training=True)
            loss = tf.reduce_mean(tf.nn.ctc_loss(y, scores, *lengths, logits_time_major=False, **options))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        step(tf.constant(X), tf.constant(labels(lowest)))
    return watched


def by_fit(watch, lowest, n_steps=3):
    keras.utils.set_random_seed(0)
    model = build()
    model.compile("adam", keras.losses.CTC())
    watched = watch(model)
    model.fit(X, labels(lowest), batch_size=N, epochs=n_steps, verbose=0)
    return watched


@pytest.mark.parametrize("train", [by_hand, by_fit])
@pytest.mark.parametrize(("lowest", "place"), [(0, BLANK_PLACE), (1, 0)])
def test_where_labels_count_from(watch, read, train, lowest, place):
    recording = read(train(watch, lowest))
    assert [one["blank"] for one in known_in(recording, "blank")] == [0]
    assert set(leaked(recording)) == {place}


def test_another_blank(watch, read):
    recording = read(by_hand(watch, 0, blank_index=N_LABELS))
    assert not known_in(recording, "blank")
    assert BLANK_PLACE not in leaked(recording)


@pytest.mark.parametrize("train", [by_hand, by_fit])
def test_it_is_told_with_its_cause(watch, read, train):
    def told(lowest):
        return [one for one in diagnose(read(train(watch, lowest, 15))).findings() if "CTC" in one.title]

    (found,) = told(0)
    assert found.hypotheses[0].cause.startswith("The labels count from 0, which is the blank of the CTC loss")
    assert told(1) == []
