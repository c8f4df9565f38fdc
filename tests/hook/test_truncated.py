"""Ids that are cut to whole numbers: told where they were scaled before, and not where they were not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.protocol import LEAKED_PLACES, TRUNCATED_PLACE
from tests.hook.diagnosis import diagnose, find_line, known_in
from tests.hook.test_leakage import leaked

CAPTURE = ("gradient", "input", "operation")
pytestmark = pytest.mark.rows
N, SHOPS = 400, 40
RANDOM = np.random.default_rng(0)
IDS = RANDOM.integers(0, SHOPS, N)
PLAIN = np.stack([IDS, RANDOM.integers(0, 2, N), RANDOM.uniform(0, 1, N)], 1).astype("float32")
WANTED = (RANDOM.normal(size=SHOPS)[IDS] + PLAIN[:, 2])[:, None].astype("float32")
UNIT = (PLAIN - PLAIN.min(0)) / np.ptp(PLAIN, 0)
STANDARD = (PLAIN - PLAIN.mean(0)) / PLAIN.std(0)
PADDED = np.where(RANDOM.random((N, 1)) < 0.4, 0, UNIT).astype("float32")


class Lookup(layers.Layer):
    """Joins what a table holds for an id with the numbers beside it."""

    def __init__(self, ids_of, n_rows=SHOPS):
        super().__init__()
        self.ids_of = ids_of
        self.table = layers.Embedding(n_rows, 4)

    def call(self, x):
        return tf.concat([self.table(self.ids_of(x)), x[:, 2:]], 1)


def cast(x):
    return tf.cast(x[:, 0], tf.int32)  # cast


def split(x):
    return tf.cast(tf.squeeze(tf.split(x, 3, axis=1)[0], -1), tf.int64)  # split


def floating(x):
    return x[:, 0]


def clipped(x):
    return tf.clip_by_value(tf.cast(x[:, 0], tf.int32), 0, SHOPS - 1)  # clipped


def standardised(x):
    return tf.cast((x[:, 0] - IDS.mean()) / IDS.std(), tf.int32)  # standardised


def binned(x):
    return tf.cast(x[:, 2] * 2, tf.int32)


def floored(x):
    return tf.cast(tf.floor(x[:, 2]), tf.int32)


def rounded(x):
    return tf.cast(tf.round(x[:, 2] * 39), tf.int32)


def flag(x):
    return tf.cast(x[:, 1], tf.int32)


class OneHot(layers.Layer):
    """Tells the ids apart without a table."""

    def call(self, x):
        return tf.concat([tf.one_hot(tf.cast(x[:, 0], tf.int32), SHOPS), x[:, 2:]], 1)  # one_hot


def fit(watch, layer, x, n_steps=1, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((3,)), layer, layers.Dense(8, "relu"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), "mse", **options)
    watched = watch(model)
    model.fit(x, WANTED, batch_size=100, epochs=-(-n_steps // 4), verbose=0)
    return watched


@pytest.mark.parametrize(
    ("ids_of", "x", "is_jit"),
    [
        (cast, UNIT, False),
        (cast, np.maximum(STANDARD, 0), True),
        (cast, PADDED, False),
        (split, UNIT, True),
        (clipped, STANDARD, False),
        (standardised, PLAIN, False),
    ],
)
def test_the_line_is_named(watch, read, ids_of, x, is_jit):
    recording = read(fit(watch, Lookup(ids_of), x, jit_compile=is_jit))
    (found,) = known_in(recording, "truncates")
    assert (found["source"]["line"], found["rows"]) == (find_line(ids_of.__name__, sys.modules[__name__]), SHOPS)
    assert set(leaked(recording)) == {float(TRUNCATED_PLACE)}


@pytest.mark.parametrize("layer", [OneHot(), Lookup(floating)], ids=["one hot", "floating"])
def test_other_ways_to_tell_ids_apart(watch, read, layer):
    recording = read(fit(watch, layer, UNIT))
    assert [one["rows"] for one in known_in(recording, "truncates")] == [SHOPS]
    assert set(leaked(recording)) == {float(TRUNCATED_PLACE)}


@pytest.mark.parametrize(
    ("layer", "x"),
    [
        (lambda: Lookup(cast), PLAIN),
        (lambda: Lookup(floating), PLAIN),
        (lambda: Lookup(binned), PLAIN),
        (lambda: Lookup(floored), PLAIN),
        (lambda: Lookup(rounded), PLAIN),
        (lambda: Lookup(flag), PLAIN),
        (lambda: Lookup(flag, 2), UNIT),
        (lambda: Lookup(cast), PLAIN + 0.25),
        (OneHot, PLAIN),
    ],
    ids=["whole", "whole, floating", "binned", "floored", "rounded", "flag", "of two", "of a clock", "one hot"],
)
def test_whole_ids(watch, read, layer, x):
    assert TRUNCATED_PLACE not in {abs(one) % LEAKED_PLACES for one in leaked(read(fit(watch, layer(), x)))}


def test_the_second_of_two_tables(watch, read):
    both = layers.Concatenate()
    inputs = keras.Input((3,))
    shops, other = layers.Embedding(SHOPS, 4)(inputs[:, 0]), layers.Embedding(8, 4)(inputs[:, 2])
    model = keras.Model(inputs, layers.Dense(1)(both([shops, other])))
    model.compile("adam", "mse")
    watched = watch(model)
    model.fit(PLAIN, WANTED, batch_size=100, epochs=1, verbose=0)
    assert set(leaked(read(watched))) == {float(LEAKED_PLACES + TRUNCATED_PLACE)}


@pytest.mark.parametrize(("x", "n_told"), [(UNIT, 1), (PLAIN, 0)], ids=["scaled", "whole"])
def test_it_is_told(watch, read, x, n_told):
    findings = diagnose(read(fit(watch, Lookup(cast), x, 130))).findings()
    told = [one for one in findings if one.title.startswith("Ids are cut to whole numbers after they were scaled")]
    assert len(told) == n_told
    assert all(one.source["code"].startswith("return tf.cast(x[:, 0]") for one in told)
