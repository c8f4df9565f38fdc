"""Learns by policy gradient where an idle elevator should wait, from noisy single-step rewards."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FLOORS, HOURS = 8, 24
arrive = np.zeros((HOURS, FLOORS))
for h in range(HOURS):
    c = 0 if 6 <= h < 10 else (6 if 15 <= h < 19 else 3)
    arrive[h] = np.exp(-0.5 * ((np.arange(FLOORS) - c) / 1.0) ** 2) + 0.03
arrive /= arrive.sum(1, keepdims=True)
wait = np.abs(np.arange(FLOORS)[:, None] - np.arange(FLOORS)[None])


def state(h):
    a = 2 * np.pi * h / 24
    return np.stack([np.sin(a), np.cos(a), np.sin(2 * a), np.cos(2 * a)], 1).astype("float32")


policy = keras.Sequential(
    [
        keras.Input((4,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(FLOORS, kernel_initializer="zeros"),
    ]
)
gradwatch.watch(policy)
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(s, a, adv):
    with tf.GradientTape() as tape:
        logits = policy(s, training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(a, logits)
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(p * tf.nn.log_softmax(logits), -1)
        loss = tf.reduce_mean(adv * nll) - 0.02 * tf.reduce_mean(entropy)
    opt.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
    return loss


baseline = 0.0
for i in range(1200):
    h = rng.integers(0, HOURS, 32)
    s = state(h)
    logits = policy(s).numpy()
    a = (logits + rng.gumbel(0, 1, logits.shape)).argmax(1)
    caller = np.array([rng.choice(FLOORS, p=arrive[k]) for k in h])
    reward = -wait[a, caller] + rng.normal(0, 1.0, 32)
    baseline = 0.95 * baseline + 0.05 * reward.mean()
    loss = step(s, a.astype("int32"), ((reward - baseline) / 2).astype("float32"))
    if i % 200 == 0:
        print(i, float(loss), baseline)

h = np.arange(HOURS)
best = (arrive @ wait).min(1)
got = (arrive @ wait)[h, policy(state(h)).numpy().argmax(1)]
print("SCORE share_of_optimal", float(best.sum() / got.sum()))
