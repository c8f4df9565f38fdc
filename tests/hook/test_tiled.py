"""Samples that are tiled beside a list of their items: told with the line; those that are repeated are not."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient", "operation")
N, K = 8, 3
USERS = np.arange(N, dtype=np.int32) % 5
ITEMS = np.arange(N * K, dtype=np.int32).reshape(N, K) % 7


def tiled(user: Any, items: Any) -> Any:
    return tf.tile(user, [K]), tf.reshape(items, [-1])  # tiled


def repeated(user: Any, items: Any) -> Any:
    return tf.repeat(user, K), tf.reshape(items, [-1])


def of_transposed_items(user: Any, items: Any) -> Any:
    return tf.tile(user, [K]), tf.reshape(tf.transpose(items), [-1])


def tiled_by_an_axis(user: Any, items: Any) -> Any:
    return tf.reshape(tf.tile(user[:, None], [1, K]), [-1]), tf.reshape(items, [-1])


@pytest.mark.parametrize("batch", [N, None])
@pytest.mark.parametrize("pair", [tiled, repeated, of_transposed_items, tiled_by_an_axis])
def test_samples_and_their_items(watch: Any, read: Any, pair: Any, batch: int | None) -> None:
    user, item = (keras.Input((), dtype="int32") for _ in range(2))
    score = layers.Dot(1)([layers.Embedding(5, 4)(user), layers.Embedding(7, 4)(item)])
    model = keras.Model([user, item], score)
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function(input_signature=[tf.TensorSpec([batch], tf.int32), tf.TensorSpec([batch, K], tf.int32)])
    def step(user: Any, items: Any) -> None:
        with tf.GradientTape() as tape:
            scores = tf.reshape(model(pair(user, items)), [-1, K])
            loss = tf.reduce_mean(tf.nn.log_softmax(scores)[:, 0])
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(3):
        step(USERS, ITEMS)
    found = [one for one in found_in(read(watched)) if "tiled" in one]
    assert [one["tiled"] for one in found] == [K] * (pair is tiled)
    assert all(one["source"]["line"] == find_line("tiled", sys.modules[__name__]) for one in found)
