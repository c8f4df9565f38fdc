"""Predictions for each time that meet one target: told in fit and in loops; repeated on purpose, they are not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import found_in

CAPTURE = ("gradient", "operation")
N_TIMES = 6
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(16, N_TIMES, 3)).astype(np.float32)
Y = RANDOM.normal(size=(16, 1)).astype(np.float32)


def build(*, is_sequence: bool = True, n_units: int = 1, n_times: int | None = N_TIMES) -> Any:
    recurrent = layers.GRU(4, return_sequences=is_sequence)
    return keras.Sequential([keras.Input((n_times, 3)), recurrent, layers.Dense(n_units, name="out")])


def timed(recording: Any) -> list[int]:
    found = [one for one in found_in(recording) if "times" in one]
    assert all(one["layer"].endswith("out") for one in found)
    return [one["times"] for one in found]


@pytest.mark.parametrize(
    ("model", "targets", "loss", "wanted"),
    [
        (build(), Y, "mse", [N_TIMES]),
        (build(), Y[:, 0], "mae", [N_TIMES]),
        (build(n_times=None), Y, "huber", [N_TIMES]),
        (build(is_sequence=False), Y, "mse", []),
        (build(), np.tile(Y[:, None], (1, N_TIMES, 1)), "mse", []),
        (build(is_sequence=False, n_units=N_TIMES), Y, "mse", []),
    ],
    ids=["a column", "a vector", "of any length", "the last step", "targets of each", "several of one step"],
)
def test_in_fit(watch: Any, read: Any, model: Any, targets: Any, loss: str, wanted: list[int]) -> None:
    model = keras.models.clone_model(model)
    model.compile(keras.optimizers.SGD(0.01), loss)
    watched = watch(model)
    model.fit(X, targets, batch_size=8, verbose=0)
    assert timed(read(watched)) == wanted


LOSSES: dict[str, tuple[Any, list[int]]] = {
    "squeezed": (lambda p, y: tf.reduce_mean(tf.abs(tf.squeeze(p, -1) - y)), [N_TIMES]),
    "an axis that is added": (lambda p, y: tf.reduce_mean((y[:, None] - p) ** 2), []),
    "repeated": (lambda p, y: tf.reduce_mean((tf.repeat(y, N_TIMES, axis=1) - p[..., 0]) ** 2), []),
    "weighed by time": (
        lambda p, y: tf.reduce_mean((y - p[..., 0]) ** 2 * np.linspace(0, 1, N_TIMES, dtype=np.float32)),
        [],
    ),
    "the last of them": (lambda p, y: tf.reduce_mean((y - p[:, -1]) ** 2), []),
}


@pytest.mark.parametrize(("loss_of", "wanted"), LOSSES.values(), ids=LOSSES)
def test_in_a_loop(watch: Any, read: Any, loss_of: Any, wanted: list[int]) -> None:
    model = build()
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(model(x, training=True), y)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(3):
        step(tf.constant(X), tf.constant(Y))
    assert timed(read(watched)) == wanted
