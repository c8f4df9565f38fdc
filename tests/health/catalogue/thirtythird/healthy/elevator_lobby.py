"""Learn by REINFORCE where an idle elevator should park, given the hour and its recent calls."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FLOORS, BATCH, STEPS = 8, 64, 1200


def demand(hour):
    """Chance of the next call at each floor: lobby in the morning, canteen at noon, top at night."""
    floor = np.arange(FLOORS)[None]
    h = hour[:, None]
    p = (
        0.08
        + 1.2 * np.exp(-((h - 8) ** 2) / 5) * (floor == 0)
        + 1.0 * np.exp(-((h - 12.5) ** 2) / 3) * (floor == 3)
        + 1.0 * np.exp(-((h - 17.5) ** 2) / 5) * (floor >= 5)
    )
    return p / p.sum(1, keepdims=True)


def pick(p):
    return (p.cumsum(1) < rng.random((len(p), 1))).sum(1).clip(0, FLOORS - 1)


def situations(n):
    hour = rng.uniform(6, 20, n)
    p = demand(hour)
    recent = np.stack([np.eye(FLOORS)[pick(p)] for _ in range(3)]).mean(0)
    clock = np.stack([(hour - 13) / 7, np.sin(np.pi * hour / 7), np.cos(np.pi * hour / 7)], 1)
    return np.concatenate([clock, recent], 1).astype("float32"), p


def waiting(park, call):
    return np.abs(park - call) * 2.0 + 1.0


policy = keras.Sequential(
    [
        layers.Input((3 + FLOORS,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(FLOORS, kernel_initializer="zeros"),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(policy)


@tf.function
def update(state, action, advantage):
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(policy(state, training=True))
        chosen = tf.gather(log_p, action, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(log_p) * log_p, axis=1)
        loss = -tf.reduce_mean(chosen * advantage + 0.01 * entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


baseline, log = -6.0, []
for step in range(STEPS):
    state, p = situations(BATCH)
    action = pick(tf.nn.softmax(policy(state)).numpy())
    reward = -waiting(action, pick(p)) + rng.normal(0, 1.0, BATCH)
    loss = update(state, action.astype("int32"), ((reward - baseline) / 3).astype("float32"))
    baseline += 0.05 * (reward.mean() - baseline)
    log.append((float(loss), reward.mean()))
    if step % 200 == 199:
        print(f"step {step + 1} loss {np.mean(log[-200:], 0)[0]:.4f} reward {np.mean(log[-200:], 0)[1]:.3f}")

state, p = situations(3000)
cost = np.stack([(p * waiting(f, np.arange(FLOORS))).sum(1) for f in range(FLOORS)], 1)
park = policy.predict(state, verbose=0).argmax(1)
saved = (cost.mean(1) - cost[np.arange(len(park)), park]).mean() / (cost.mean(1) - cost.min(1)).mean()
print("SCORE share_of_possible_saving", round(float(saved), 4))
