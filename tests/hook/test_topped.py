"""Dropouts and batch normalisations of what a model is asked for are told; those before the last layer are not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from gradwatch.slips.script.topped import find_topped
from tests.hook.diagnosis import diagnose

CAPTURE = ("gradient",)
X = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)


def model_of(*last: Any, loss: Any = None) -> keras.Model:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu", name="hidden"), *last])
    if loss is not None:
        model.compile(keras.optimizers.SGD(0.01), loss)
    return model


@pytest.mark.parametrize(
    ("last", "loss", "expected"),
    [
        ([layers.Dense(2, "softmax", name="out"), layers.Dropout(0.5)], None, "Dropout"),
        ([layers.Dense(2, "softmax", name="out"), layers.BatchNormalization()], None, "BatchNormalization"),
        ([layers.Dense(1, name="out"), layers.Dropout(0.3)], "mse", "Dropout"),
        ([layers.Dense(1, name="out"), layers.Dropout(0.3)], None, None),
        ([layers.Dense(1, name="out"), layers.Dropout(0.01)], "mse", None),
        ([layers.Dense(1, name="out"), layers.BatchNormalization()], "mse", None),
        ([layers.Dropout(0.5), layers.Dense(2, "softmax", name="out")], "mse", None),
        ([layers.Dropout(0.5)], "mse", "Dropout"),
        ([layers.Dropout(0.5)], keras.losses.MeanSquaredError(), "Dropout"),
        ([layers.Dropout(0.5)], lambda y, embedding: embedding, None),
    ],
)
def test_what_stands_behind_the_last_layer(last: list[Any], loss: Any, expected: str | None) -> None:
    found = find_topped([model_of(*(one.from_config(one.get_config()) for one in last), loss=loss)])
    assert [one["type"] for one in found] == ([] if expected is None else [expected])
    assert all(one["tops"].rpartition("/")[2] in ("out", "hidden") for one in found)


def test_models_of_other_kinds() -> None:
    class Own(keras.Model):
        def call(self, x: Any) -> Any:
            return x

    shared = layers.Dropout(0.5)
    one, other = keras.Input((4,)), keras.Input((4,))
    twice = keras.Model([one, other], [shared(one), shared(other)])
    assert find_topped([Own(), twice, keras.Sequential([layers.Dense(1)])]) == []


def test_what_is_no_answer() -> None:
    """An encoder that another watched model reads, and an embedding that is given beside an answer."""
    encoder = model_of(layers.Dense(8, "sigmoid"), layers.BatchNormalization())
    assert find_topped([encoder])
    assert find_topped([encoder, model_of(layers.Dense(1))]) == []
    entering = keras.Input((4,))
    embedding = layers.Dropout(0.2)(layers.Dense(8, name="embedding")(entering))
    both = keras.Model(entering, [layers.Dense(1)(embedding), embedding])
    both.compile("sgd", ["mse", None])
    assert find_topped([both]) == []


def test_it_is_told(watch: Any, read: Any) -> None:
    model = model_of(layers.Dense(2, "softmax", name="out"), layers.Dropout(0.5))
    model.compile(keras.optimizers.SGD(0.01), "sparse_categorical_crossentropy")
    begun = watch(model)
    model.fit(X, Y, batch_size=16, epochs=8, verbose=0)
    (told,) = [one for one in diagnose(read(begun)).findings() if "behind the last layer" in one.title]
    assert "dropout" in told.hypotheses[0].code.lower()
