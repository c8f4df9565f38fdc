"""Gradients that are applied to other variables than they are of: told with the line, if one tape gave both."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")
X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)


def tower(name: str) -> Any:
    return keras.Sequential([keras.Input((4,)), layers.Dense(6, "relu"), layers.Dense(3)], name=name)


@pytest.mark.parametrize(("how", "n"), [("exchanged", 4), ("in order", 0), ("clipped", 0), ("one optimizer", 0)])
def test_two_towers(watch: Any, read: Any, how: str, n: int) -> None:
    one, other = tower("one"), tower("other")
    first, second = keras.optimizers.SGD(1e-3), keras.optimizers.SGD(1e-3)
    watched = watch(one, other)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(one(x) - other(x) - 1.0))
        both = [one.trainable_variables, other.trainable_variables]
        of_one, of_other = tape.gradient(loss, both)  # asked
        if how == "exchanged":
            of_one, of_other = of_other, of_one
        if how == "clipped":
            of_one = [tf.clip_by_norm(gradient, 1.0) for gradient in of_one]
        if how == "one optimizer":
            variables = [*other.trainable_variables, *one.trainable_variables]
            first.apply_gradients(zip([*of_other, *of_one], variables, strict=True))
        else:
            first.apply_gradients(zip(of_one, one.trainable_variables, strict=True))
            second.apply_gradients(zip(of_other, other.trainable_variables, strict=True))

    for _ in range(130):
        step(X)
    recording = read(watched)
    found = [slip for slip in found_in(recording) if "strangers" in slip]
    assert [slip["strangers"] for slip in found] == [n] * (n > 0)
    titles = [told.title for told in diagnose(recording).findings() if "gradients of other variables" in told.title]
    assert len(titles) == (n > 0)
    if n:
        assert found[0]["source"]["line"] == find_line("asked", sys.modules[__name__])
        assert titles[0].startswith("one/dense")


def test_two_variables_of_one_gradient(watch: Any, read: Any) -> None:
    model = tower("one")
    more = keras.Variable(np.zeros(3), dtype="float32", name="more")
    others = keras.Variable(np.zeros(3), dtype="float32", name="others")
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(model)

    @tf.function
    def step(x: Any) -> None:
        variables = [*model.trainable_variables, more, others]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) + (more.value + others.value)))
        gradients = tape.gradient(loss, [one.value for one in variables])
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    for _ in range(3):
        step(X)
    assert [slip for slip in found_in(read(watched)) if "strangers" in slip] == []
