"""Two networks for pairs of samples of one kind are told; those for things of two kinds, and one for both, are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")
RANDOM = np.random.default_rng(0)
POOL = RANDOM.normal(size=(100, 6)).astype(np.float32)
OTHERS = RANDOM.normal(size=(100, 6)).astype(np.float32)
FIRST, SECOND = RANDOM.integers(0, 100, (2, 320))


def tower(width: int = 8) -> Any:
    return keras.Sequential([keras.Input((6,)), layers.Dense(width, "relu"), layers.Dense(4)])


def absolute(one: Any, other: Any) -> Any:
    return tf.abs(one - other)  # absolute


def squared(one: Any, other: Any) -> Any:
    return tf.math.squared_difference(one, other)  # squared


def length(one: Any, other: Any) -> Any:
    gap = one - other  # length
    return tf.sqrt(tf.reduce_sum(gap * gap, -1, keepdims=True) + 1e-9)


def train(watch: Any, merge: Callable[..., Any], towers: tuple[Any, Any], x: list[Any], epochs: int = 1) -> Any:
    inputs = keras.Input((6,)), keras.Input((6,))
    merged = layers.Lambda(lambda pair: merge(*pair))([one(given) for one, given in zip(towers, inputs, strict=True)])
    model = keras.Model(inputs, layers.Dense(1, "sigmoid")(merged))
    model.compile(keras.optimizers.SGD(1e-6), "binary_crossentropy")
    begun = watch(model, capture=CAPTURE)
    model.fit(x, (FIRST % 7 == SECOND % 7).astype(np.float32), batch_size=32, epochs=epochs, verbose=0)
    return begun


@pytest.mark.parametrize("merge", [absolute, squared, length])
def test_networks_that_share_nothing(watch: Any, read: Any, merge: Callable[..., Any]) -> None:
    recording = read(train(watch, merge, (tower(), tower()), [POOL[FIRST], POOL[SECOND]], 14))
    (slip,) = found_in(recording)
    line = find_line(merge.__name__, sys.modules[__name__])
    assert (slip["source"]["line"], slip["towers"] > 0.8) == (line, True)
    (told,) = (one for one in diagnose(recording).findings() if "share no weights" in one.title)
    assert told.hypotheses[0].cause.startswith("The network is made twice, once for each input")


def frozen() -> Any:
    made = tower()
    made.trainable = False
    return made


ONE = tower()
NOT_TOLD = {
    "one for both": (absolute, (ONE, ONE), [POOL[FIRST], POOL[SECOND]]),
    "things of two kinds": (absolute, (tower(), tower()), [POOL[FIRST], OTHERS[SECOND]]),
    "of another shape": (absolute, (tower(), tower(12)), [POOL[FIRST], POOL[SECOND]]),
    "a teacher": (squared, (tower(), frozen()), [POOL[FIRST], POOL[SECOND]]),
    "a difference with a sign": (lambda one, other: one - other, (tower(), tower()), [POOL[FIRST], POOL[SECOND]]),
    "side by side": (lambda *both: tf.concat(both, -1), (tower(), tower()), [POOL[FIRST], POOL[SECOND]]),
    "a product": (lambda one, other: one * other, (tower(), tower()), [POOL[FIRST], POOL[SECOND]]),
}


@pytest.mark.parametrize(("merge", "towers", "x"), NOT_TOLD.values(), ids=NOT_TOLD)
def test_networks_that_are_meant(watch: Any, read: Any, merge: Any, towers: Any, x: Any) -> None:
    assert not [one for one in found_in(read(train(watch, merge, towers, x))) if "towers" in one]
