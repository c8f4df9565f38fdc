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
