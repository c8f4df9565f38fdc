"""Attention whose heads are split or put together by a reshape alone: told with its line; others are not."""

import sys

import keras
import numpy as np
import pytest
from keras import layers, ops

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")


N_STEPS, WIDTH, N_HEADS = 6, 12, 3
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(32, N_STEPS, 5)).astype("float32")
Y = RANDOM.normal(size=(32, N_STEPS, 1)).astype("float32")


def split(x, n_heads):
    return ops.transpose(ops.reshape(x, (-1, N_STEPS, n_heads, WIDTH // n_heads)), (0, 2, 1, 3))


def join(x):
    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (-1, N_STEPS, WIDTH))


def split_alone(x, n_heads):
    return ops.reshape(x, (-1, n_heads, N_STEPS, WIDTH // n_heads))  # split_alone


def join_alone(x):
    return ops.reshape(x, (-1, N_STEPS, WIDTH))  # join_alone


def grouped(x):
    """Channels of an image in rows: nothing is multiplied."""
    return ops.reshape(ops.relu(ops.reshape(ops.repeat(x, 12, axis=2), (-1, N_HEADS, N_STEPS, 20))), (-1, N_STEPS, 60))


class Attention(layers.Layer):
    def __init__(self, split, join, n_heads):
        super().__init__(name="attention")
        self.split, self.join, self.n_heads = split, join, n_heads
        self.parts = [layers.Dense(WIDTH) for _ in range(3)]

    def call(self, x):
        q, k, v = (self.split(part(x), self.n_heads) for part in self.parts)
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / 2.0
        return self.join(ops.matmul(ops.softmax(scores), v))


def train(watch, *parts, epochs=2, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((N_STEPS, 5)), *parts, layers.Dense(1)])
    model.compile("sgd", "mse", **options)
    watched = watch(model, capture=("gradient", "operation"))
    model.fit(X, Y, batch_size=16, epochs=epochs, verbose=0)
    return watched


@pytest.mark.parametrize(
    ("split", "join", "place", "is_split"),
    [(split_alone, join, "split_alone", True), (split, join_alone, "join_alone", False)],
)
@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
def test_the_line_is_named(watch, read, split, join, place, is_split, options):
    (found,) = found_in(read(train(watch, Attention(split, join, N_HEADS), **options)))
    assert (found["type"], found["heads"], found["splits"]) == ("Reshape", N_HEADS, is_split)
    assert found["layer"].split("/")[-1] == "attention"
    assert found["source"]["line"] == find_line(place, sys.modules[__name__])


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(lambda: Attention(split, join, N_HEADS), id="with a transpose"),
        pytest.param(lambda: Attention(split, join, N_STEPS), id="as many heads as steps"),
        pytest.param(lambda: layers.Lambda(grouped), id="no attention"),
    ],
)
def test_others_are_not(watch, read, part):
    assert found_in(read(train(watch, part()))) == []


def test_it_is_told_with_its_cause(watch, read):
    findings = diagnose(read(train(watch, Attention(split_alone, join, N_HEADS), epochs=60))).findings()
    (told,) = (one for one in findings if "heads" in one.title)
    assert (told.kind, told.first_step) == ("loss_plateau", 0)
    assert told.hypotheses[0].cause.startswith("The 3 heads hold slices of the sequence")
