"""Double DQN that keeps an inverted pendulum on a crane trolley upright."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
ENVS, HORIZON, GAMMA, BATCH = 16, 200, 0.98, 128


def simulate(state, action):
    """One 20 ms step for a batch of trolleys; action 0 pushes left, 1 right."""
    x, v, th, w = state.T
    force = np.where(action == 1, 10.0, -10.0)
    c, s = np.cos(th), np.sin(th)
    tmp = (force + 0.05 * w**2 * s) / 1.1
    acc = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
    xacc = tmp - 0.05 * acc * c / 1.1
    nxt = np.stack([x + 0.02 * v, v + 0.02 * xacc, th + 0.02 * w, w + 0.02 * acc], 1)
    fell = (abs(nxt[:, 0]) > 2.4) | (abs(nxt[:, 2]) > 0.21)
    return nxt, np.ones(len(nxt)), fell


def start(n):
    return rng.uniform(-0.05, 0.05, (n, 4))


def build():
    return keras.Sequential(
        [
            layers.Input((4,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(2),
        ]
    )


online, target = build(), build()
target.set_weights(online.get_weights())
gradwatch.watch(online)
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()


@tf.function
def learn(s, a, r, s2, done):
    best = tf.argmax(online(s2), axis=1)
    q_next = tf.gather(target(s2), best, axis=1, batch_dims=1)
    goal = r + GAMMA * q_next
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, axis=1, batch_dims=1)
        loss = huber(goal, q)
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss


@tf.function
def greedy(s):
    return tf.argmax(online(s), axis=1)


SIZE = 20000
mem = [
    np.zeros((SIZE, 4), "float32"),
    np.zeros(SIZE, "int32"),
    np.zeros(SIZE, "float32"),
    np.zeros((SIZE, 4), "float32"),
    np.zeros(SIZE, "float32"),
]
filled, cursor = 0, 0
state, age = start(ENVS), np.zeros(ENVS, int)
lengths = []
for step in range(1800):
    eps = max(0.05, 1 - step / 600)
    act = np.where(rng.random(ENVS) < eps, rng.integers(0, 2, ENVS), greedy(tf.constant(state, tf.float32)).numpy())
    nxt, reward, fell = simulate(state, act)
    rows = (cursor + np.arange(ENVS)) % SIZE
    for buf, val in zip(mem, (state, act, reward, nxt, fell)):
        buf[rows] = val
    cursor, filled = (cursor + ENVS) % SIZE, min(SIZE, filled + ENVS)
    age += 1
    over = fell | (age >= HORIZON)
    lengths.extend(age[over])
    state = np.where(over[:, None], start(ENVS), nxt)
    age[over] = 0
    if step >= 50:
        pick = rng.integers(0, filled, BATCH)
        loss = learn(*[tf.constant(buf[pick]) for buf in mem])
    if step % 100 == 0:
        target.set_weights(online.get_weights())
    if step % 300 == 299:
        print("step %d loss %.4f episode length %.1f" % (step + 1, float(loss), np.mean(lengths[-30:])))

state, alive, total = start(50), np.ones(50, bool), np.zeros(50)
for _ in range(HORIZON):
    state, _, fell = simulate(state, greedy(tf.constant(state, tf.float32)).numpy())
    alive &= ~fell
    total += alive
print("SCORE mean_steps_upright %.2f" % total.mean())
