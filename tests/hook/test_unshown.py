"""Noise that a step asks of a network and never shows it is told; noise that it is shown, or that blurs, is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")

X = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
SEED = keras.random.SeedGenerator(0)


def noised(x: Any, noise: Any = None) -> Any:
    if noise is None:
        noise = tf.random.normal(tf.shape(x))  # shown
    return 0.6 * x + 0.8 * noise


def another_draw(model: Any, x: Any) -> Any:
    noise = tf.random.normal(tf.shape(x))  # another_draw
    return tf.reduce_mean(tf.square(noise - model(noised(x))))


def drawn_by_keras(model: Any, x: Any) -> Any:
    noise = keras.random.normal(tf.shape(x), seed=SEED)  # drawn_by_keras
    return keras.losses.MeanSquaredError()(noise, model(noised(x)))


def no_draw_shown(model: Any, x: Any) -> Any:
    noise = 2.0 * tf.random.normal(tf.shape(x))  # no_draw_shown
    return tf.reduce_mean(tf.abs(model(x) - tf.stop_gradient(noise)))


def the_same_draw(model: Any, x: Any) -> Any:
    noise = tf.random.normal(tf.shape(x))
    return tf.reduce_mean(tf.square(noise - model(noised(x, noise))))


def asked_for_the_data(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.square(x - model(noised(x))))


def blurred_targets(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.square(x + 0.1 * tf.random.normal(tf.shape(x)) - model(x)))


def blurred_labels(model: Any, x: Any) -> Any:
    """As a discriminator is asked for what is about 1."""
    return tf.reduce_mean(tf.square(tf.random.normal(tf.shape(x), mean=1.0, stddev=0.1) - model(x)))


def drawn_within(model: Any, x: Any) -> Any:
    """A penalty between two draws that both come from the network."""
    mean = model(x)
    one, other = (mean + tf.random.normal(tf.shape(mean)) for _ in range(2))
    return tf.reduce_mean(tf.square(one - other)) + tf.reduce_mean(tf.square(mean - x))


TOLD = [another_draw, drawn_by_keras, no_draw_shown]
NOT_TOLD = [the_same_draw, asked_for_the_data, blurred_targets, blurred_labels, drawn_within]


def train(watch: Any, loss_of: Callable[..., Any], n_steps: int = 3) -> Any:
    model = keras.Sequential([keras.Input((3,)), layers.Dense(8, "relu"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(model)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(model, x)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for _ in range(n_steps):
        step(X)
    return watched


@pytest.mark.parametrize("loss_of", TOLD)
def test_the_draw_is_named(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    (found,) = found_in(read(train(watch, loss_of)))
    assert found["source"]["line"] == find_line(loss_of.__name__, sys.modules[__name__])
    shown = found["shown"] and found["shown"]["line"]
    assert shown == (None if loss_of is no_draw_shown else find_line("shown", sys.modules[__name__]))


@pytest.mark.parametrize("loss_of", NOT_TOLD)
def test_other_noise_is_not(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    assert found_in(read(train(watch, loss_of))) == []


def test_it_is_told_with_its_cause(watch: Any, read: Any) -> None:
    findings = diagnose(read(train(watch, another_draw, 150))).findings()
    (told,) = (one for one in findings if "noise that was never added" in one.title)
    assert (told.kind, told.first_step) == ("loss_plateau", 0)
    assert told.hypotheses[0].cause.startswith("The input and the target use two different noise draws")


T = 50
BETAS = np.linspace(1e-4, 0.2, T)
OF_ONE_STEP = 1.0 - BETAS
UP_TO_IT = np.cumprod(OF_ONE_STEP)


def by_schedule(kept: Any, x: Any, noise: Any) -> Any:
    """``kept``: the part of the variance that is the sample's, at each time."""
    t = tf.random.uniform(tf.shape(x)[:1], 0, T, tf.int32)
    signal, spread = (tf.gather(np.float32(one), t)[:, None] for one in (np.sqrt(kept), np.sqrt(1.0 - kept)))
    return signal * x + spread * noise  # by_schedule


def faint(model: Any, x: Any) -> Any:
    noise = tf.random.normal(tf.shape(x))
    return tf.reduce_mean(tf.square(model(by_schedule(OF_ONE_STEP, x, noise)) - noise))


OUTSIDE = [tf.constant(np.sqrt(one), tf.float32) for one in (OF_ONE_STEP, 1.0 - OF_ONE_STEP)]


def faint_made_outside(model: Any, x: Any) -> Any:
    noise = tf.random.normal(tf.shape(x))
    signal, spread = (tf.gather(one, tf.random.uniform([32], 0, T, tf.int32)) for one in OUTSIDE)
    shown = tf.reshape(spread, [-1, 1]) * noise + tf.reshape(signal, [-1, 1]) * x  # faint_made_outside
    return tf.reduce_mean(tf.abs(noise - model(shown)))


def covering(model: Any, x: Any) -> Any:
    noise = tf.random.normal(tf.shape(x))
    return tf.reduce_mean(tf.square(model(by_schedule(UP_TO_IT, x, noise)) - noise))


def faint_for_cleaning(model: Any, x: Any) -> Any:
    """The sample is asked for, and nothing is to be made of noise."""
    return tf.reduce_mean(tf.square(model(by_schedule(OF_ONE_STEP, x, tf.random.normal(tf.shape(x)))) - x))


def beside_the_whole_sample(model: Any, x: Any) -> Any:
    """As a network that cleans images is shown them."""
    noise = tf.random.normal(tf.shape(x))
    spread = tf.gather(OUTSIDE[1], tf.random.uniform([32], 0, T, tf.int32))[:, None]
    return tf.reduce_mean(tf.square(model(x + spread * noise) - noise))


@pytest.mark.parametrize(("loss_of", "marker"), [(faint, "by_schedule"), (faint_made_outside, "faint_made_outside")])
def test_noise_that_never_covers_its_samples(watch: Any, read: Any, loss_of: Any, marker: str) -> None:
    (found,) = found_in(read(train(watch, loss_of)))
    assert found["covers"] == pytest.approx(np.sqrt(BETAS.max()), rel=1e-6)
    assert found["source"]["line"] == find_line(marker, sys.modules[__name__])


@pytest.mark.parametrize("loss_of", [covering, faint_for_cleaning, beside_the_whole_sample])
def test_noise_that_covers_them_or_need_not(watch: Any, read: Any, loss_of: Any) -> None:
    assert found_in(read(train(watch, loss_of))) == []


def test_a_faint_schedule_is_told_with_its_cause(watch: Any, read: Any) -> None:
    (told,) = (one for one in diagnose(read(train(watch, faint, 150))).findings() if "pure noise" in one.title)
    assert told.hypotheses[0].cause.startswith("The tables of both factors are not made of the cumulative product")
