"""Layers that merge a tensor with itself are told; doublings, squares and other merges are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient", "operation")
X = np.random.default_rng(0).normal(size=(32, 8, 8, 3)).astype(np.float32)


def fit(watch: Any, read: Any, build: Callable[[Any, Any], Any]) -> list[dict[str, Any]]:
    given = keras.Input((8, 8, 3))
    skip = layers.Conv2D(4, 3, padding="same")(given)
    x = layers.Conv2D(4, 3, padding="same", activation="relu")(skip)
    model = keras.Model(given, layers.Dense(1)(layers.GlobalAveragePooling2D()(build(x, skip))))
    model.compile("sgd", "mse")
    watched = watch(model)
    model.fit(X, X[:, 0, 0, :1], batch_size=16, verbose=0)
    return found_in(read(watched))


def lost(x: Any, _: Any) -> Any:
    return layers.add([x, x])  # lost


def lost_average(x: Any, _: Any) -> Any:
    return layers.Average()([x, x])  # lost_average


def lost_skip(x: Any, _: Any) -> Any:
    x = layers.Conv2DTranspose(4, 3, strides=2, activation="relu")(x)
    return layers.Concatenate()([x, x])


def lost_resized(x: Any, _: Any) -> Any:
    x = layers.Conv2D(4, 3)(layers.UpSampling2D(2)(x))
    return layers.concatenate((x, x))


@pytest.mark.parametrize(
    ("build", "kind"),
    [(lost, "add"), (lost_average, "average"), (lost_skip, "concatenate"), (lost_resized, "concatenate")],
)
def test_one_tensor_twice(watch: Any, read: Any, build: Any, kind: str) -> None:
    (found,) = fit(watch, read, build)
    assert found["itself"] == kind
    if kind == "concatenate":  # by a line each of two
        assert found["source"] is None
    else:
        assert found["source"]["line"] == find_line(build.__name__, sys.modules[__name__])


class Block(layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.join = layers.Conv2D(4, 3, padding="same"), layers.Add()

    def call(self, given: Any) -> Any:
        made = self.conv(given)
        return self.join([made, made])  # made


def test_within_a_layer_of_ones_own(watch: Any, read: Any) -> None:
    (found,) = fit(watch, read, lambda x, _: Block()(x))
    assert (found["itself"], found["type"]) == ("add", "AddV2")
    assert found["source"]["line"] == find_line("made", sys.modules[__name__])


@pytest.mark.parametrize(
    "build",
    [
        lambda x, skip: layers.add([x, skip]),
        lambda x, skip: layers.add([skip, layers.Identity()(x)]),
        lambda x, _: layers.Multiply()([x, x]),
        lambda x, _: x + x,
        lambda x, _: layers.Concatenate()([x] * 2),
        lambda x, skip: layers.Concatenate()([layers.UpSampling2D(2)(x), layers.UpSampling2D(2)(skip)]),
        lambda x, _: layers.Concatenate(axis=1)([layers.UpSampling2D(2)(x)] * 2),
    ],
    ids=["skip", "identity", "square", "by hand", "features twice", "decoder", "tiled"],
)
def test_what_is_meant(watch: Any, read: Any, build: Any) -> None:
    assert fit(watch, read, build) == []
