"""Attentions over words without their places: told, and not where anything on the way tells of their order."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

CAPTURE = ("gradient", "operation")


RANDOM = np.random.default_rng(0)
LENGTH, WIDTH = 12, 8
TOKENS = RANDOM.integers(1, 30, (250, LENGTH)).astype(np.int32)
LABELS = RANDOM.integers(0, 3, 250)  # the last batch is shorter, so that no length of one is known


class Places(layers.Layer):
    """A table of places, added."""

    def build(self, shape):
        self.table = self.add_weight(shape=(1, shape[1], shape[2]), name="table")

    def call(self, x):
        return x + self.table


class Waves(layers.Layer):
    """Waves of places, computed in every call."""

    def call(self, x):
        places = tf.range(tf.shape(x)[1], dtype=tf.float32)[:, None]
        return x + tf.sin(places / 10.0 ** tf.linspace(0.0, 2.0, WIDTH))


def attend(x, **options):
    return layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x, **options))


def block(x):
    x = attend(x)
    return layers.LayerNormalization()(x + layers.Dense(WIDTH)(layers.Dense(16, activation="gelu")(x)))


def numbered(x):
    return x + layers.Embedding(LENGTH, WIDTH)(np.arange(LENGTH))


mean = layers.GlobalAveragePooling1D
SET_LIKE = {
    "a mean": lambda x: mean()(block(block(x))),
    "the first": lambda x: block(layers.Dropout(0.1)(x))[:, 0],
    "the largest": lambda x: layers.GlobalMaxPooling1D()(block(x)),
}
ORDERED = {
    "a table": lambda x: mean()(block(Places()(x))),
    "waves": lambda x: mean()(block(Waves()(x))),
    "an embedding": lambda x: mean()(block(numbered(x))),
    "a causal mask": lambda x: mean()(attend(x, use_causal_mask=True)),
    "a convolution": lambda x: mean()(block(layers.Conv1D(WIDTH, 3, padding="same")(x))),
    "a recurrence before": lambda x: mean()(block(layers.GRU(WIDTH, return_sequences=True)(x))),
    "a recurrence behind": lambda x: layers.LSTM(WIDTH)(block(x)),
    "a kernel for each place": lambda x: layers.Flatten()(block(x)),
    "no attention": lambda x: mean()(layers.Dense(WIDTH, activation="relu")(x)),
}


class Sliced(layers.Layer):
    """A table of places, or of numbers of places, added as a function of it and the words gives it."""

    def __init__(self, rows_of, shape):
        super().__init__()
        self.rows_of = rows_of
        self.shape = shape

    def build(self, _):
        if self.shape is None:
            self.table = layers.Embedding(200, WIDTH)
            self.table.build()
        elif self.shape[0] == LONGEST:
            self.table = tf.constant(RANDOM.normal(size=self.shape).astype("float32"))
        else:
            self.table = self.add_weight(shape=self.shape, name="table")

    def call(self, x):
        return x + self.rows_of(self.table, x)  # sliced


LONGEST = 300
LONG = (200, 1, WIDTH)
BY_SAMPLE = {
    "constant": (lambda table, x: table[: tf.shape(x)[0]], (LONGEST, 1, WIDTH)),
    "variable": (lambda table, x: table[: tf.shape(x)[0]], LONG),
    "an axis more": (lambda table, x: table[: tf.shape(x)[0], None], (200, WIDTH)),
    "an axis later": (lambda table, x: tf.expand_dims(table[: tf.shape(x)[0]], 1), (200, WIDTH)),
    "numbers": (lambda table, x: table(tf.range(tf.shape(x)[0]))[:, None], None),
}
BY_PLACE = {
    "cut": (lambda table, x: table[: tf.shape(x)[1]], (200, WIDTH)),
    "an axis before": (lambda table, x: table[None, : tf.shape(x)[1]], (200, WIDTH)),
    "numbers": (lambda table, x: table(tf.range(tf.shape(x)[1])), None),
    "drawn": (lambda table, x: table[:1] + tf.random.normal((200, 1, WIDTH))[: tf.shape(x)[0]], LONG),
    "one for all": (lambda table, x: table[:1], LONG),
    "time first": (
        lambda table, x: tf.transpose(tf.transpose(x, (1, 0, 2)) + table[: tf.shape(x)[1]], (1, 0, 2)),
        LONG,
    ),
}


def placed(rows_of, shape):
    return lambda x: mean()(block(Sliced(rows_of, shape)(x)))


@pytest.mark.parametrize("is_fixed", [False, True], ids=["any batch", "batches of one length"])
@pytest.mark.parametrize(("rows_of", "shape"), BY_SAMPLE.values(), ids=BY_SAMPLE)
def test_places_along_the_samples(watch, read, rows_of, shape, is_fixed):
    recording = read(fit(watch, placed(rows_of, shape), is_fixed=is_fixed))
    (found,) = known_in(recording, "by_sample")
    assert (found["by_sample"], found["source"]["line"]) == (LENGTH, find_line("sliced", sys.modules[__name__]))


@pytest.mark.parametrize(("rows_of", "shape"), BY_PLACE.values(), ids=BY_PLACE)
def test_places_along_the_words(watch, read, rows_of, shape):
    assert known_in(read(fit(watch, placed(rows_of, shape))), "by_sample") == []


def fit(watch, make, n_epochs=1, labels=LABELS, rate=1e-4, *, is_fixed=False):
    keras.utils.set_random_seed(0)
    tokens = keras.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(30, WIDTH, name="words")(tokens)
    model = keras.Model(tokens, layers.Dense(3, name="out")(make(x)))
    model.compile(keras.optimizers.Adam(rate), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    watched = watch(model, capture=("gradient", "operation", "input"))
    if is_fixed:
        batches = tf.data.Dataset.from_tensor_slices((TOKENS, labels)).batch(16, drop_remainder=True)
        model.fit(batches, epochs=n_epochs, verbose=0, shuffle=False)
    else:
        model.fit(TOKENS, labels, batch_size=16, epochs=n_epochs, verbose=0)
    return watched


@pytest.mark.parametrize("make", SET_LIKE.values(), ids=SET_LIKE)
def test_words_without_places(watch, read, make):
    (found,) = found_in(read(fit(watch, make)))
    assert (found["layer"].rpartition("/")[2], found["n_places"]) == ("words", LENGTH)


@pytest.mark.parametrize("make", ORDERED.values(), ids=ORDERED)
def test_words_in_order(watch, read, make):
    assert found_in(read(fit(watch, make))) == []


def test_it_is_told_of_what_is_not_learned(watch, read):
    # Whether the one word stands before the other.
    place = np.argmax(TOKENS.max(1, keepdims=True) == TOKENS, 1)
    findings = diagnose(read(fit(watch, SET_LIKE["a mean"], 20, (place > LENGTH // 2).astype(int), 1e-3))).findings()
    (found,) = [one for one in findings if "order" in one.title]
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.hypotheses[0].cause == "The model has no position embedding"
    assert f"[batch, {LENGTH}, width]" in found.hypotheses[0].code


def test_it_is_not_told_of_what_is_learned(watch, read):
    n_small = (TOKENS < 10).sum(1)
    learned = diagnose(read(fit(watch, SET_LIKE["a mean"], 20, (n_small > 3).astype(int), 1e-2))).findings()
    assert not [one for one in learned if "order" in one.title]
