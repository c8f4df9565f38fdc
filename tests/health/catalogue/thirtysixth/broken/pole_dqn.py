"""Balances a pole on a cart with deep Q-learning, a replay memory and a target network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


class Poles:
    """A batch of cart-pole systems which restart by themselves."""

    def __init__(self, n):
        self.s = rng.uniform(-0.05, 0.05, (n, 4))
        self.age = np.zeros(n, int)

    def step(self, action):
        x, v, th, w = self.s.T
        force = np.where(action == 1, 10.0, -10.0)
        cos, sin = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w**2 * sin) / 1.1
        acc = (9.8 * sin - cos * tmp) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        xacc = tmp - 0.05 * acc * cos / 1.1
        nxt = np.stack([x + 0.02 * v, v + 0.02 * xacc, th + 0.02 * w, w + 0.02 * acc], 1)
        self.age += 1
        fell = (np.abs(nxt[:, 0]) > 2.4) | (np.abs(nxt[:, 2]) > 0.21)
        over = fell | (self.age >= 200)
        self.s = nxt.copy()
        self.s[over] = rng.uniform(-0.05, 0.05, (over.sum(), 4))
        self.age[over] = 0
        return nxt, np.ones(len(nxt)), fell, over


def q_network():
    return keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(2),
        ]
    )


model, target = q_network(), q_network()
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
gamma = 0.97
scale = np.array([1.0, 1.0, 5.0, 1.0])


@tf.function
def train_step(s, a, r, s2, done):
    best = tf.reduce_max(target(s2), axis=1)
    goal = r + gamma * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(s, training=True) * tf.one_hot(a, 2), axis=1)
        loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def greedy(s):
    return tf.argmax(model(s, training=False), axis=1)


gradwatch.watch(model)
n_env = 16
poles = Poles(n_env)
memory = []
for step in range(1500):
    s = poles.s.copy()
    a = greedy(tf.constant(s * scale, tf.float32)).numpy()
    explore = rng.random(n_env) < max(0.05, 1 - step / 500)
    a = np.where(explore, rng.integers(0, 2, n_env), a)
    s2, r, fell, _ = poles.step(a)
    memory.append((s * scale, a, r, s2 * scale, fell))
    if step < 32:
        continue
    rows = rng.integers(max(0, len(memory) - 1200), len(memory), 64)
    cols = rng.integers(0, n_env, 64)
    batch = [np.stack([memory[i][k][j] for i, j in zip(rows, cols)]) for k in range(5)]
    loss = train_step(*[tf.constant(b, tf.int32 if k == 1 else tf.float32) for k, b in enumerate(batch)])
    if step % 50 == 0:
        target.set_weights(model.get_weights())
    if step % 250 == 0:
        print("step", step, "loss", float(loss))

trial = Poles(50)
alive, length = np.ones(50, bool), np.zeros(50)
for _ in range(200):
    _, _, _, over = trial.step(greedy(tf.constant(trial.s * scale, tf.float32)).numpy())
    length += alive
    alive &= ~over
print("SCORE mean_episode_length", float(length.mean()))
