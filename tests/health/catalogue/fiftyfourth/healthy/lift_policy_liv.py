"""A goods lift learns where to wait: policy gradient with a running baseline."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

FLOORS, HOURS, SHIFTS = 6, 24, 128


def demand(hour):
    """Probability of the next call from each floor at this hour."""
    busy = (hour * FLOORS / HOURS + 2 * np.sin(hour / 4)) % FLOORS
    away = np.abs(np.arange(FLOORS)[None] - np.asarray(busy)[:, None])
    p = np.exp(-1.2 * np.minimum(away, FLOORS - away))
    return p / p.sum(1, keepdims=True)


def describe(hour):
    angle = 2 * np.pi * hour / HOURS
    return np.stack(
        [np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle), np.sin(3 * angle), np.cos(3 * angle)], 1
    ).astype("float32")


def call_floor(hour, rng):
    p = demand(hour).cumsum(1)
    return (rng.random((len(hour), 1)) > p).sum(1).clip(0, FLOORS - 1)


model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(FLOORS),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def choose(x):
    return tf.random.categorical(model(x), 1)[:, 0]


@tf.function
def improve(x, action, advantage):
    with tf.GradientTape() as tape:
        logits = model(x)
        logp = tf.nn.log_softmax(logits)
        chosen = tf.gather(logp, action, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, axis=1)
        loss = -tf.reduce_mean(chosen * advantage + 0.01 * entropy)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(SEED + 55)
baseline = -2.0
for round_ in range(2500):
    hour = rng.integers(0, HOURS, SHIFTS)
    x = tf.constant(describe(hour))
    action = choose(x)
    wait = np.abs(action.numpy() - call_floor(hour, rng))
    reward = -wait.astype("float32")
    loss = improve(x, action, tf.constant(reward - np.float32(baseline)))
    baseline += 0.05 * (reward.mean() - baseline)
    if round_ % 250 == 0:
        print("round", round_, "loss", float(loss), "reward", float(reward.mean()))

hour = np.repeat(np.arange(HOURS), 200)
action = np.argmax(model(describe(hour)).numpy(), axis=1)
cost = np.abs(np.arange(FLOORS)[:, None] - np.arange(FLOORS)[None])
best = (demand(hour) @ cost).min(1).mean()
got = (demand(hour) * cost[action]).sum(1).mean()
print("SCORE wait_over_best", float(got / best))
