"""Masks of padding that are lost on the way to a layer that would use them: where; and healthy ways are not told."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, known_in

IGNORED = "ignore:Layer .* was passed an input with a mask"  # Keras says it too
pytestmark = [pytest.mark.filterwarnings(IGNORED), pytest.mark.rows]
CAPTURE = ("gradient", "operation", "input")
STEPS, N_WORDS, WIDTH = 40, 30, 8


class Shifting(layers.Layer):  # says nothing of masks
    def build(self, shape: Any) -> None:
        self.shift = self.add_weight(shape=(shape[-1],), initializer="zeros", name="shift")

    def call(self, x: Any) -> Any:
        return x + self.shift


class Supporting(Shifting):
    def __init__(self) -> None:
        super().__init__()
        self.supports_masking = True


class Ending(Shifting):
    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        return None


class Using(Shifting):
    def call(self, x: Any, mask: Any = None) -> Any:
        return (x + self.shift) * tf.cast(mask[..., None], x.dtype)


class Pooling(layers.Layer):
    def call(self, x: Any, mask: Any = None) -> Any:
        return tf.reduce_sum(x * tf.cast(mask[..., None], x.dtype), axis=1)


def embedding(is_masked: bool = True) -> Any:
    return layers.Embedding(N_WORDS, WIDTH, mask_zero=is_masked)


def in_turn(*within: Any, is_masked: bool = True) -> Any:
    return keras.Sequential([keras.Input((STEPS,), dtype="int32"), embedding(is_masked), *within, layers.Dense(1)])


def functional(between: Any, use: Any) -> Any:
    words = keras.Input((STEPS,), dtype="int32")
    return keras.Model(words, layers.Dense(1)(use(between(embedding()(words)))))


def attended(x: Any) -> Any:
    return layers.Flatten()(layers.MultiHeadAttention(2, 4)(x, x))


class Written(keras.Model):
    def __init__(self, *, is_given: bool = False, is_pooled: bool = False) -> None:
        super().__init__()
        self.again = layers.RepeatVector(STEPS) if is_pooled else None
        self.words, self.cell, self.last = embedding(), layers.GRU(8), layers.Dense(1)
        self.places = self.add_weight(shape=(STEPS, WIDTH), name="places")
        self.is_given = is_given

    def call(self, x: Any) -> Any:
        h = self.words(x) * 2.0 + self.places  # no layer
        if self.again is not None:
            known = tf.cast(x != 0, h.dtype)[..., None]
            return self.last(self.cell(self.again(tf.reduce_sum(h * known, axis=1))))
        if self.is_given:
            return self.last(self.cell(h, mask=self.words.compute_mask(x)))
        return self.last(self.cell(h))


class Wrapping(layers.Layer):
    """A block that hands on no mask, though its own parts do."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = layers.MultiHeadAttention(2, 4)
        self.norm = layers.LayerNormalization()

    def call(self, x: Any) -> Any:
        return self.norm(x + self.attention(x, x))


def train(watch: Any, model: Any, n_steps: int = 1, *, is_padded: bool = True) -> Any:
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    x = random.integers(1, N_WORDS, (64, STEPS)).astype(np.int32)
    if is_padded:
        x[np.arange(STEPS) >= random.integers(2, 9, 64)[:, None]] = 0
    model.compile(keras.optimizers.SGD(1e-4), "mse")
    watched = watch(model)
    model.fit(x, random.normal(size=(64, 1)).astype(np.float32), batch_size=16, epochs=-(-n_steps // 4), verbose=0)
    return watched


def find(read: Any, watched: Any) -> list[Any]:
    return known_in(read(watched), "loses")


@pytest.mark.parametrize(
    ("make", "loser", "user"),
    [
        (lambda: in_turn(Shifting(), layers.LSTM(8)), "Shifting", "lstm"),
        (
            lambda: in_turn(Shifting(), layers.Dense(6), layers.Bidirectional(layers.GRU(4))),
            "Shifting",
            "bidirectional",
        ),
        (lambda: in_turn(Shifting(), layers.GlobalAveragePooling1D()), "Shifting", "global_average"),
        (lambda: in_turn(Wrapping(), layers.GlobalAveragePooling1D()), "Wrapping", "global_average"),
        (lambda: functional(Shifting(), attended), "Shifting", "multi_head"),
        (lambda: functional(layers.Lambda(lambda x: 2.0 * x), layers.GRU(4)), "Lambda", "gru"),
        (lambda: functional(layers.Conv1D(6, 3, padding="same"), layers.GRU(4)), "Conv1D", "gru"),
        (lambda: functional(layers.Reshape((STEPS, WIDTH)), layers.GRU(4)), "Reshape", "gru"),
    ],
    ids=["rnn", "behind another", "average", "block", "attention", "lambda", "convolution", "reshape"],
)
def test_a_layer_that_loses_a_mask_is_known(watch: Any, read: Any, make: Any, loser: str, user: str) -> None:
    (found,) = find(read, train(watch, make()))
    assert (found["type"], found["n_steps"], found["is_op"]) == (loser, STEPS, False)
    assert user in found["layer"]
    assert "embedding" in found["loses"]
    if loser == "Shifting":
        assert found["source"]["line"] == find_line("says nothing of masks", sys.modules[__name__])


def test_a_line_that_loses_a_mask_is_known(watch: Any, read: Any) -> None:
    (found,) = find(read, train(watch, Written()))
    assert (found["is_op"], found["source"]["line"]) == (True, find_line("no layer", sys.modules[__name__]))
    assert "gru" in found["layer"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: in_turn(layers.LSTM(8)),
        lambda: in_turn(Shifting(), layers.LSTM(8), is_masked=False),
        lambda: in_turn(Supporting(), layers.LSTM(8)),
        lambda: in_turn(Ending(), layers.LSTM(8)),
        lambda: in_turn(Using(), layers.LSTM(8)),
        lambda: in_turn(Shifting(), layers.Flatten()),
        lambda: in_turn(layers.Flatten()),
        lambda: in_turn(Pooling(), layers.RepeatVector(STEPS), layers.LSTM(4)),
        lambda: in_turn(layers.LSTM(8), layers.RepeatVector(STEPS), layers.LSTM(4)),
        lambda: in_turn(layers.LSTM(8, return_sequences=True), layers.Dense(4), layers.LSTM(8)),
        lambda: in_turn(layers.Conv1D(6, 3, strides=2), layers.LSTM(8)),
        lambda: Written(is_given=True),
        lambda: Written(is_pooled=True),
        lambda: functional(lambda x: x, attended),
    ],
    ids=[
        *(
            "kept",
            "none",
            "supported",
            "ended",
            "used",
            "of no use",
            "flat",
            "pooled",
            "repeated",
            "stacked",
            "strided",
        ),
        *("given", "pooled by lines", "attention"),
    ],
)
def test_what_is_masked_or_means_it_is_not(watch: Any, read: Any, make: Any) -> None:
    assert find(read, train(watch, make())) == []


@pytest.mark.parametrize(("is_padded", "n_found"), [(True, 1), (False, 0)])
def test_it_is_told_where_sequences_are_padded(watch: Any, read: Any, is_padded: bool, n_found: int) -> None:
    model = in_turn(Shifting(), layers.GlobalAveragePooling1D())
    recording = read(train(watch, model, 160, is_padded=is_padded))
    found = [one for one in diagnose(recording).findings() if "reads the padding" in one.title]
    assert len(found) == n_found
    assert all("a Shifting, hands on no mask" in one.hypotheses[0].cause for one in found)
