"""Layers that scale a whole table by one mean: told of the models, however they are trained."""

import keras
import numpy as np
import pytest

from tests.hook.training import dense

CAPTURE = ("gradient",)
TABLE = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}], ids=["fit", "eagerly"])
@pytest.mark.parametrize("axis", [None, -1])
def test_a_layer_with_one_scale(watch, read, axis, options):
    scale = keras.layers.Normalization(axis=axis, name="scale")
    scale.adapt(TABLE)
    model = keras.Sequential([keras.Input((3,)), keras.Sequential([scale], name="before"), dense(1, "out")])
    model.compile("sgd", "mse", **options)
    begun = watch(model)
    model.fit(TABLE, TABLE[:, :1], verbose=0)
    recording = read(begun)
    found = [one for one in recording.tables[recording.stream]["slips"] if one["type"] == "Normalization"]
    assert [one["layer"].rpartition("/")[2] for one in found] == ["scale"] * (axis is None)


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        (keras.layers.LSTM(4, activation="relu", name="memory"), "relu"),
        (keras.layers.GRU(4, activation=keras.ops.elu, name="memory"), "elu"),
        (keras.layers.SimpleRNN(4, activation=None, name="memory"), "linear"),
        (keras.layers.LSTM(4, name="memory"), None),
        (keras.layers.GRU(4, activation="hard_sigmoid", name="memory"), None),
    ],
)
def test_a_recurrence_of_a_function_without_an_end(watch, read, layer, function):
    model = keras.Sequential([keras.Input((5, 3)), layer, dense(1, "out")])
    model.compile("sgd", "mse")
    begun = watch(model)
    x = np.random.default_rng(0).normal(size=(8, 5, 3)).astype("float32")
    model.fit(x, x[:, 0, :1], verbose=0)
    recording = read(begun)
    found = [one for one in recording.tables[recording.stream]["slips"] if "unbounded" in one]
    expected = [] if function is None else [("memory", function)]
    assert [(one["layer"].rpartition("/")[2], one["unbounded"]) for one in found] == expected
