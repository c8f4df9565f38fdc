"""Sequences that end in padding before a recurrent layer that hands on its last state."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.protocol import ALIKE_PLACE, PADDED_PLACE
from tests.hook.diagnosis import known_in
from tests.hook.test_paired import places_in

CAPTURE = ("gradient", "activation", "input", "operation")
pytestmark = pytest.mark.rows


N, LENGTH, N_WORDS = 16, 40, 50
RANDOM = np.random.default_rng(0)


def words(n_padding, *, at_end=True):
    """Sequences of which each has so many zeros, at the end or at the front."""
    found = RANDOM.integers(1, N_WORDS, (N, LENGTH))
    found[:, slice(LENGTH - n_padding, None) if at_end else slice(None, n_padding)] = 0
    return found.astype("int32")


def features(n_padding):
    found = RANDOM.normal(size=(N, LENGTH, 3)).astype("float32")
    found[:, LENGTH - n_padding :] = 0.0
    return found


def reader(*over, mask_zero=False, length=LENGTH):
    return [keras.Input((length,), dtype="int32"), layers.Embedding(N_WORDS, 6, mask_zero=mask_zero), *over]


def train(watch, parts, x, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([*parts, layers.Dense(1)])
    model.compile("sgd", "mse", **options)
    watched = watch(model)
    model.fit(x, RANDOM.normal(size=(N, 1)), batch_size=N, epochs=2, verbose=0)
    return watched


@pytest.mark.parametrize("cell", [layers.LSTM, layers.GRU, layers.SimpleRNN])
def test_words(watch, read, cell):
    recording = read(train(watch, reader(cell(4, name="reader")), words(25)))
    (found,) = known_in(recording, "end_of")
    assert (found["end_of"], found["layer"].split("/")[-1]) == (LENGTH, "reader")
    assert places_in(recording) == {PADDED_PLACE}


def test_compiled(watch, read):
    recording = read(train(watch, reader(layers.GRU(4)), words(25), jit_compile=True))
    assert places_in(recording) == {PADDED_PLACE}


def test_features(watch, read):
    recording = read(train(watch, [keras.Input((LENGTH, 3)), layers.Dense(5), layers.LSTM(4)], features(25)))
    assert places_in(recording) == {PADDED_PLACE}


def test_a_length_that_is_not_known_before(watch, read):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([*reader(layers.GRU(4), length=None), layers.Dense(1)])
    model.compile("sgd", "mse")
    watched = watch(model)
    kinds = tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, 1], tf.float32)
    batches = [(words(n), np.ones((N, 1), "float32")) for n in (25, 30)]
    data = tf.data.Dataset.from_generator(lambda: batches, output_signature=kinds)
    model.fit(data.apply(tf.data.experimental.assert_cardinality(2)), shuffle=False, verbose=0)
    recording = read(watched)
    assert [one["end_of"] for one in known_in(recording, "end_of")] == [0]
    assert places_in(recording) == {PADDED_PLACE}


def test_the_last_of_all_outputs(watch, read):
    last = layers.Lambda(lambda one: one[:, -1])
    recording = read(train(watch, reader(layers.GRU(4, return_sequences=True), last), words(25)))
    assert places_in(recording) == {PADDED_PLACE}


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(words(25, at_end=False), id="at the front"),
        pytest.param(words(15), id="hardly any"),
        pytest.param(words(19), id="less than half"),
        pytest.param(words(40), id="nothing else"),
        pytest.param(np.where(np.arange(N)[:, None] < 7, words(25), words(3)), id="of less than half"),
    ],
)
def test_other_sequences(watch, read, x):
    recording = read(train(watch, reader(layers.GRU(4)), x))
    assert known_in(recording, "end_of")
    assert places_in(recording) <= {0 if x.any() else ALIKE_PLACE}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(reader(layers.GRU(4), mask_zero=True), id="masked"),
        pytest.param(reader(layers.GRU(4, go_backwards=True)), id="from the end"),
        pytest.param(reader(layers.Bidirectional(layers.GRU(4))), id="both ways"),
        pytest.param(reader(layers.GRU(4, return_sequences=True), layers.GlobalMaxPooling1D()), id="pooled"),
        pytest.param(reader(layers.GlobalAveragePooling1D()), id="no loop"),
    ],
)
def test_other_readers(watch, read, parts):
    recording = read(train(watch, parts, words(25)))
    assert known_in(recording, "end_of") == []
    assert places_in(recording) <= {0}
