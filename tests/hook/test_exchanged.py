"""Losses whose targets and predictions have changed places are told with their line; others are not."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(32, 3)).astype(np.float32)
Y = np.eye(4, dtype=np.float32)[RANDOM.integers(0, 4, 32)]


def poisson(y: Any, output: Any) -> Any:
    return keras.losses.poisson(output, y)  # poisson


def cross_entropy(y: Any, output: Any) -> Any:
    return keras.losses.CategoricalCrossentropy()(output, y)  # cross_entropy


def binary(y: Any, output: Any) -> Any:
    return keras.losses.binary_crossentropy(output, y)  # binary


def of_logarithms(y: Any, output: Any) -> Any:
    return keras.losses.mean_squared_logarithmic_error(output, y)


def divergence(y: Any, output: Any) -> Any:
    return keras.losses.kl_divergence(y, output)


def by_hand(y: Any, output: Any) -> Any:
    """The logarithm of a time that was observed, times what is learned: Weibull's likelihood has that."""
    return keras.ops.mean(output * keras.ops.log(y + 1.0), axis=-1)


TOLD = [poisson, cross_entropy, binary]
NOT_TOLD = ["poisson", "categorical_crossentropy", "binary_crossentropy", of_logarithms, divergence, by_hand]


def train(watch: Any, loss: Any, epochs: int = 2, **options: Any) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((3,)), layers.Dense(8, "relu"), layers.Dense(4, "softmax")])
    model.compile(keras.optimizers.SGD(1e-3), loss, **options)
    watched = watch(model, capture=("gradient", "operation"))
    model.fit(X, Y, batch_size=16, epochs=epochs, verbose=0)
    return watched


@pytest.mark.parametrize("loss", TOLD)
@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
def test_the_line_is_named(watch: Any, read: Any, loss: Any, options: Any) -> None:
    (found,) = found_in(read(train(watch, loss, **options)))
    assert (found["type"], found["exchanged"]) == ("Log", True)
    assert found["source"]["line"] == find_line(loss.__name__, sys.modules[__name__])


@pytest.mark.parametrize("loss", NOT_TOLD)
def test_others_are_not(watch: Any, read: Any, loss: Any) -> None:
    assert found_in(read(train(watch, loss))) == []


def test_it_is_told_with_its_cause(watch: Any, read: Any) -> None:
    told = diagnose(read(train(watch, poisson, 80))).findings()[0]
    assert told.hypotheses[0].cause.startswith("The arguments of the loss are exchanged (test_exchanged.py:")
