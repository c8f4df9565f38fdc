"""Edges of several graphs that name the nodes of the first are told; those that are counted on are not."""

from __future__ import annotations

from functools import partial
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, found_in

CAPTURE = ("gradient", "activation", "input", "operation")
pytestmark = pytest.mark.rows


N_NODES, N_GRAPHS = 10, 8


class Messages(layers.Layer):
    """What each node gets of its neighbours."""

    def __init__(self, *, is_of_lists: bool = False) -> None:
        super().__init__()
        self.is_of_lists = is_of_lists
        self.message, self.update = layers.Dense(8, "relu"), layers.Dense(8, "relu")

    def call(self, h: Any, edges: Any) -> Any:
        source, target = edges if self.is_of_lists else (edges[:, 0], edges[:, 1])
        told = self.message(tf.gather(h, source))
        return self.update(h + tf.math.unsorted_segment_sum(told, target, tf.shape(h)[0]))


class Graphs(keras.Model):
    """Graphs to one number each."""

    def __init__(self, *, has_messages: bool, is_of_lists: bool) -> None:
        super().__init__()
        self.embed, self.head = layers.Dense(8), layers.Dense(1)
        self.messages = Messages(is_of_lists=is_of_lists) if has_messages else None

    def call(self, inputs: Any) -> Any:
        h = self.embed(inputs["nodes"])
        h = h if self.messages is None else self.messages(h, inputs["edges"])
        return self.head(tf.math.unsorted_segment_mean(h, inputs["owner"], N_GRAPHS))


def batch(random: Any, *, is_shifted: bool, is_of_lists: bool) -> dict[str, Any]:
    edges = random.integers(0, N_NODES, (N_GRAPHS, 20, 2)).astype(np.int32)
    if is_shifted:
        edges += N_NODES * np.arange(N_GRAPHS, dtype=np.int32)[:, None, None]
    return {
        "nodes": tf.constant(random.normal(size=(N_GRAPHS * N_NODES, 5)).astype(np.float32)),
        "edges": tf.unstack(edges.reshape(-1, 2), axis=1) if is_of_lists else tf.constant(edges.reshape(-1, 2)),
        "owner": tf.constant(np.repeat(np.arange(N_GRAPHS, dtype=np.int32), N_NODES)),
    }


@pytest.mark.parametrize(
    ("is_shifted", "has_messages", "is_told"), [(False, True, True), (True, True, False), (False, False, False)]
)
@pytest.mark.parametrize("is_of_lists", [False, True], ids=["pairs", "two lists"])
def test_edges_of_several_graphs(
    watch: Any, read: Any, *, is_of_lists: bool, is_shifted: bool, has_messages: bool, is_told: bool
) -> None:
    random = np.random.default_rng(0)
    model, optimizer = Graphs(has_messages=has_messages, is_of_lists=is_of_lists), keras.optimizers.Adam(1e-3)
    draw = partial(batch, random, is_shifted=is_shifted, is_of_lists=is_of_lists)
    model(draw())
    watched = watch(model)

    @tf.function(reduce_retracing=True)
    def step(inputs: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(inputs, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for _ in range(130):
        y = tf.constant(random.normal(size=(N_GRAPHS, 1)).astype(np.float32))
        step(draw(), y)
    recording = read(watched)
    assert bool(found_in(recording)) == has_messages
    told = [one for one in diagnose(recording).findings() if "edges of a batch use" in one.title]
    assert bool(told) == is_told
    for one in told:
        assert one.title == "The edges of a batch use 10 of its 80 nodes: each graph numbers its own from 0"
        assert one.hypotheses[0].cause.startswith("The node numbers in the edges are not shifted")


SOURCE, TARGET = (np.random.default_rng(side).integers(0, 40, 120).astype(np.int32) for side in (1, 2))


def to_sender(h: Any, edges: Any) -> Any:
    return tf.math.unsorted_segment_sum(tf.nn.relu(tf.gather(h, SOURCE)), SOURCE, 40)


def to_sender_by_columns(h: Any, edges: Any) -> Any:
    told = tf.gather(h, edges[:, 0]) * 0.5
    return tf.math.unsorted_segment_mean(told, edges[:, 0], 40)


def to_receiver(h: Any, edges: Any) -> Any:
    return tf.math.unsorted_segment_mean(tf.gather(h, edges[:, 0]), edges[:, 1], 40)


def of_both(h: Any, edges: Any) -> Any:
    told = tf.concat([tf.gather(h, SOURCE), tf.gather(h, TARGET)], 1)
    return tf.math.unsorted_segment_sum(told, TARGET, 40)


def by_stable_attention(h: Any, edges: Any) -> Any:
    """Of scores less the largest of each node, as a softmax takes them."""
    scores = tf.reduce_sum(tf.gather(h, TARGET) * tf.gather(h, SOURCE), axis=1, keepdims=True)
    weights = tf.exp(scores - tf.gather(tf.math.unsorted_segment_max(scores, TARGET, 40), TARGET))
    shares = weights / tf.gather(tf.math.unsorted_segment_sum(weights, TARGET, 40), TARGET)
    return tf.math.unsorted_segment_sum(shares * tf.gather(h, SOURCE), TARGET, 40)


def by_attention(h: Any, edges: Any) -> Any:
    scores = tf.exp(tf.tanh(tf.gather(h, SOURCE)[:, :1] + tf.gather(h, TARGET)[:, :1]))
    shares = scores / tf.gather(tf.math.unsorted_segment_sum(scores, TARGET, 40), TARGET)
    return tf.math.unsorted_segment_sum(shares * tf.gather(h, SOURCE), TARGET, 40)


@pytest.mark.parametrize(
    ("collect", "is_told"),
    [
        (to_sender, True),
        (to_sender_by_columns, True),
        (to_receiver, False),
        (of_both, False),
        (by_attention, False),
        (by_stable_attention, False),
    ],
)
def test_messages_that_go_back(watch: Any, read: Any, collect: Any, *, is_told: bool) -> None:
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    x, y = random.normal(size=(40, 5)).astype(np.float32), random.integers(0, 3, 40)
    edges = tf.constant(np.stack([SOURCE, TARGET], 1))
    dense, head = layers.Dense(8), layers.Dense(3)

    class Net(keras.Model):
        def build(self, shape: Any) -> None:
            self.dense, self.head = dense, head

        def call(self, given: Any) -> Any:
            return self.head(collect(self.dense(given), edges))

    model, optimizer = Net(), keras.optimizers.SGD(1e-3)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    watched = watch(model)

    @tf.function
    def step() -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for _ in range(130):
        step()
    recording = read(watched)
    assert any(one.get("returns") for one in found_in(recording)) == is_told
    titles = [one.title for one in diagnose(recording).findings()]
    assert any(title.startswith("The messages of a graph go back") for title in titles) == is_told
