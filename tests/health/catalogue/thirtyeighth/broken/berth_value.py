"""Learns the value of the states of a small harbour under a fixed berthing rule, by temporal differences."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


GAMMA, N = 0.9, 30


def harbour(n):
    """State: ships waiting, free cranes, tide phase. Reward: fees minus waiting cost."""
    wait = rng.uniform(0, 1, n)
    cranes = rng.uniform(0, 1, n)
    tide = rng.uniform(0, 2 * np.pi, n)
    return np.stack([wait, cranes, np.sin(tide), np.cos(tide)], 1)


def advance(s):
    n = len(s)
    served = np.minimum(s[:, 0], s[:, 1] * 0.5 * (1 + 0.5 * s[:, 2]))
    reward = 3.0 * served - 1.5 * s[:, 0]
    wait = np.clip(s[:, 0] - served + rng.uniform(0, 0.35, n), 0, 1)
    cranes = np.clip(s[:, 1] + 0.15 * rng.normal(size=n), 0, 1)
    c, d = np.cos(0.4), np.sin(0.4)
    nxt = np.stack([wait, cranes, c * s[:, 2] + d * s[:, 3], c * s[:, 3] - d * s[:, 2]], 1)
    done = rng.uniform(size=n) < 0.02
    return reward, nxt, done


states = harbour(8000)
rewards, nexts, dones = advance(states)


def critic_net():
    return keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(64, activation="tanh"),
            layers.Dense(64, activation="tanh"),
            layers.Dense(1),
        ]
    )


critic, slow = critic_net(), critic_net()
slow.set_weights(critic.get_weights())
opt = keras.optimizers.Adam(1e-3)

gradwatch.watch(critic)


@tf.function
def step(s, r, s2, d):
    future = slow(s2) * GAMMA
    target = r + future * (1.0 - d)
    with tf.GradientTape() as tape:
        value = critic(s, training=True)
        loss = tf.reduce_mean(tf.square(target - value))
    grads = tape.gradient(loss, critic.trainable_variables)
    opt.apply_gradients(zip(grads, critic.trainable_variables))
    for a, b in zip(slow.trainable_variables, critic.trainable_variables):
        a.assign(0.95 * a + 0.05 * b)
    return loss


buffer = tf.data.Dataset.from_tensor_slices(
    (states.astype("float32"), rewards.astype("float32"), nexts.astype("float32"), dones.astype("float32"))
)
for batch in buffer.shuffle(8000, seed=seed).batch(64, drop_remainder=True).repeat().take(1200):
    loss = step(*batch)

test = harbour(300)
s = np.repeat(test, 40, axis=0)
ret, alive = np.zeros(len(s)), np.ones(len(s))
for t in range(60):
    r, s, done = advance(s)
    ret += alive * GAMMA**t * r
    alive *= 1 - done
truth = ret.reshape(300, 40).mean(1)
v = critic.predict(test.astype("float32"), verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((v - truth) ** 2) / np.var(truth)))
