"""Train an encoder with triplets so that calls of the same whale lie close together."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_WHALES, CALLS, T = 40, 250, 64
time = np.linspace(0, 1, T)


def call(params):
    f0, sweep, wob, rate = params
    start = rng.uniform(-0.05, 0.05)
    contour = f0 + sweep * (time + start) ** 2 + wob * np.sin(2 * np.pi * rate * time + rng.uniform(0, 2))
    loud = np.exp(-(((time - 0.5 - start) / 0.3) ** 2))
    return np.stack([contour + rng.normal(0, 0.6, T), loud + rng.normal(0, 0.1, T)], -1)


whales = np.stack(
    [
        rng.normal(0, 0.4, N_WHALES),
        rng.normal(0, 0.4, N_WHALES),
        rng.uniform(0.2, 0.8, N_WHALES),
        rng.uniform(1, 4, N_WHALES),
    ],
    1,
)
calls = np.stack([[call(w) for _ in range(CALLS)] for w in whales]).astype("float32")
train_calls, test_calls = calls[:30], calls[30:]


def draw_triplets(bank, n):
    who = rng.integers(0, len(bank), n)
    other = (who + rng.integers(1, len(bank), n)) % len(bank)
    i, j, k = rng.integers(0, CALLS, (3, n))
    return bank[who, i], bank[who, j], bank[other, k]


encoder = keras.Sequential(
    [
        layers.Input((T, 2)),
        layers.Conv1D(16, 7, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(16),
    ]
)
opt = keras.optimizers.Adam(1e-3)
MARGIN = 2.0


def distance(u, v):
    return tf.sqrt(tf.reduce_sum(tf.square(u - v), axis=-1))


gradwatch.watch(encoder)


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        a = encoder(anchor, training=True)
        d_pos = distance(a, encoder(positive, training=True))
        d_neg = distance(a, encoder(negative, training=True))
        loss = tf.reduce_mean(tf.nn.relu(d_pos - d_neg + MARGIN))
    grads = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(900):
    loss = train_step(*draw_triplets(train_calls, 32))
    if step % 100 == 0:
        print("step", step, "loss", float(loss))

a, p, n = draw_triplets(test_calls, 3000)
za, zp, zn = encoder(a), encoder(p), encoder(n)
ranked = np.mean(distance(za, zp).numpy() < distance(za, zn).numpy())
print("SCORE triplet_accuracy", round(float(ranked), 4))
