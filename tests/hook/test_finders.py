"""A finder of slips that fails says so, and keeps nothing from the others."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers

from gradwatch.slips import in_graph, in_script
from tests.hook.diagnosis import found_in

CAPTURE = ("gradient", "operation")
PLACES = ("the step's graph", "what feeds the training", "what the models are built of")
X = np.random.default_rng(0).normal(size=(64, 6, 20)).astype(np.float32)


def fails(*arguments: Any) -> None:
    raise ZeroDivisionError("of a finder")


def test_one_that_fails_keeps_nothing_from_the_others(watch: Any, read: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(in_graph, "find_inverted", fails)
    monkeypatch.setattr(in_script, "find_restarted", fails)
    monkeypatch.setattr(in_script, "find_built", fails)
    head = [layers.Reshape((20, 6)), layers.Flatten(), layers.Dense(2, "softmax"), layers.Dropout(0.5)]
    model = keras.Sequential([keras.Input((6, 20)), *head])
    model.compile(keras.optimizers.SGD(0.01), "sparse_categorical_crossentropy")
    begun = watch(model)
    model.fit(X, np.zeros(64, np.int32), batch_size=16, verbose=0)
    recording = read(begun)
    assert len(found_in(recording, "reshapes")) == 1
    assert any("tops" in one for one in found_in(recording))
    failed = [f"looking at {where} failed: ZeroDivisionError: of a finder" for where in PLACES]
    assert sorted(begun._failures) == sorted(failed)
