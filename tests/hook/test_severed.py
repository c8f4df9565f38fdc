"""Inputs of a model that no output is made of, though layers were made for them, are told; others are not."""

from __future__ import annotations

from typing import Any

import keras
import pytest
from keras import layers

from gradwatch.slips.script.severed import find_severed


@pytest.fixture
def enters() -> tuple[Any, Any]:
    return keras.Input((5,), name="words"), keras.Input((6, 4), name="steps")


def find(*models: Any) -> list[tuple[str, list[str]]]:
    return [(one["name"], one["severs"]) for one in find_severed(models)]


@pytest.mark.parametrize("is_joined", [True, False])
def test_an_encoder(enters: tuple[Any, Any], is_joined: bool) -> None:
    words, steps = enters
    table, encoder = layers.Embedding(9, 3, name="table"), layers.LSTM(4, return_state=True, name="encoder")
    _, *state = encoder(table(words))
    outputs = layers.Dense(1)(layers.LSTM(4)(steps, initial_state=state if is_joined else None))
    model = keras.Model([words, steps], outputs)
    assert find(model) == ([] if is_joined else [("words", ["table", "encoder"])])


def test_one_that_nothing_was_made_for(enters: tuple[Any, Any]) -> None:
    words, steps = enters
    assert find(keras.Model([words, steps], layers.Dense(1)(steps))) == []


def test_layers_without_weights(enters: tuple[Any, Any]) -> None:
    words, steps = enters
    layers.Flatten()(words)
    assert find(keras.Model([words, steps], layers.Dense(1)(steps))) == []


def test_what_another_model_has(enters: tuple[Any, Any]) -> None:
    words, steps = enters
    other = keras.Model(words, layers.Dense(1)(layers.Embedding(9, 3)(words)))
    assert find(keras.Model([words, steps], layers.Dense(1)(steps)), other) == []


def test_one_input() -> None:
    assert find(keras.Sequential([keras.Input((4,)), layers.Dense(1)])) == []
