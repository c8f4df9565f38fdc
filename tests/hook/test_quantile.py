"""Quantile losses of the error with the other sign are told with their line; the right ones are not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.slips.graph.quantile import _is_for_targets
from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")
X = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
Y = X[:, :1] + 1.0


def turned(y: Any, p: Any) -> Any:
    e = p - y
    return tf.reduce_mean(tf.maximum(0.9 * e, (0.9 - 1) * e))  # turned


def turned_where(y: Any, p: Any) -> Any:
    q, e = 0.1, p - y
    return tf.reduce_mean(tf.where(e >= 0, q * e, (q - 1.0) * e), axis=-1)  # turned_where


LEVELS = np.array([0.1, 0.5, 0.8], np.float32)


def turned_levels(y: Any, p: Any) -> Any:
    e = p - y
    return tf.reduce_mean(tf.maximum(LEVELS * e, (LEVELS - 1.0) * e))  # turned_levels


def right_levels(y: Any, p: Any) -> Any:
    e = y - p
    return tf.reduce_mean(tf.maximum(LEVELS * e, (LEVELS - 1.0) * e))


def turned_joined(y: Any, p: Any) -> Any:
    e = p - y
    parts = [tf.maximum(q * e, (q - 1) * e) for q in (0.1, 0.6)]  # turned_joined
    return tf.reduce_mean(tf.reduce_sum(tf.concat(parts, axis=-1), axis=-1))


def right_of_the_rest(y: Any, p: Any) -> Any:
    e = p - y
    rest = 1 - 0.9
    return tf.reduce_mean(tf.maximum(rest * e, (rest - 1) * e))


def right(y: Any, p: Any) -> Any:
    q, e = 0.9, y - p
    return tf.reduce_mean(tf.maximum(q * e, (q - 1) * e))


def right_of_prediction(y: Any, p: Any) -> Any:
    q, e = 0.9, p - y
    return tf.reduce_mean(tf.maximum((1 - q) * e, -q * e))


def median(y: Any, p: Any) -> Any:
    q, e = 0.5, p - y
    return tf.reduce_mean(tf.maximum(q * e, (q - 1) * e))


def leaky(y: Any, p: Any) -> Any:
    e = p - y
    return tf.reduce_mean(tf.maximum(0.9 * e, -0.9 * e))


def bounded(y: Any, p: Any) -> Any:
    return tf.reduce_mean(tf.maximum(p - y, 0.0) + tf.where(p > y, p, tf.square(y - p)))


def train(watch: Any, loss: Any, epochs: int = 1) -> Any:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3 if "levels" in loss.__name__ else 1)])
    model.compile(keras.optimizers.SGD(0.01), loss)
    begun = watch(model)
    model.fit(X, Y, batch_size=16, epochs=epochs, verbose=0)
    return begun


@pytest.mark.parametrize(
    ("loss", "quantile"), [(turned, 0.9), (turned_where, 0.1), (turned_levels, 0.8), (turned_joined, 0.1)]
)
def test_the_line_is_named(watch: Any, read: Any, loss: Any, quantile: float) -> None:
    (found,) = [one for one in found_in(read(train(watch, loss))) if "quantile" in one]
    assert found["quantile"] == pytest.approx(quantile)
    assert found["source"]["line"] == find_line(loss.__name__, sys.modules[__name__])


@pytest.mark.parametrize("loss", [right, right_of_the_rest, right_levels, right_of_prediction, median, leaky, bounded])
def test_others_are_not(watch: Any, read: Any, loss: Any) -> None:
    begun = train(watch, loss)
    assert not [one for one in found_in(read(begun)) if "quantile" in one]
    assert begun._failures == []


@pytest.mark.parametrize(("text", "is_told"), [("# the 0.9 quantile", True), ("# too much costs more", False)])
def test_a_cost_of_too_much_is_no_quantile(tmp_path: Path, text: str, is_told: bool) -> None:
    path = tmp_path / "costs.py"
    line = "loss = tf.reduce_mean(tf.maximum(share * e, (share - 1) * e))"
    path.write_text(f"{text}\n{line}\n")
    assert _is_for_targets({"file": str(path), "line": 2, "code": line}) is is_told


def test_it_is_told(watch: Any, read: Any) -> None:
    found = diagnose(read(train(watch, turned, 8))).findings()
    (told,) = [one for one in found if "quantile" in one.title]
    assert told.title.startswith("The quantile loss learns the 0.1 quantile, not 0.9: ")
