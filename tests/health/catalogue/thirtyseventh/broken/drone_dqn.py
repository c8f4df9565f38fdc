"""Trains a Q-network that steers a small drone on a plane towards a landing pad."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GAMMA = 0.9
BATCH = 64
N_ENV = 16
HORIZON = 25
MOVES = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], "float32") * 0.15


class Field:
    def __init__(self, n):
        self.n = n
        self.pos = np.zeros((n, 2), "float32")
        self.pad = np.zeros((n, 2), "float32")
        self.t = np.zeros(n, int)
        self.reset(np.ones(n, bool))

    def reset(self, who):
        k = who.sum()
        self.pos[who] = rng.uniform(-1, 1, (k, 2))
        self.pad[who] = rng.uniform(-1, 1, (k, 2))
        self.t[who] = 0

    def obs(self):
        return np.concatenate([self.pos, self.pad], axis=1)

    def step(self, a):
        wind = rng.normal(0, 0.02, (self.n, 2))
        self.pos = np.clip(self.pos + MOVES[a] + wind, -1.2, 1.2).astype("float32")
        self.t += 1
        dist = np.linalg.norm(self.pos - self.pad, axis=1)
        landed = dist < 0.15
        reward = -dist + 2.0 * landed
        return self.obs(), reward.astype("float32"), landed


def q_net():
    return keras.Sequential(
        [
            layers.Input((4,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(len(MOVES)),
        ]
    )


online, target = q_net(), q_net()
target.set_weights(online.get_weights())
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(online)


@tf.function
def update(s, a, r, s2, done):
    best = tf.reduce_max(target(s2), axis=1, keepdims=True)
    goal = r + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q = online(s, training=True)
        q_a = tf.reduce_sum(q * tf.one_hot(a, len(MOVES)), axis=1)
        loss = tf.reduce_mean(tf.square(goal - q_a))
    grads = tape.gradient(loss, online.trainable_variables)
    opt.apply_gradients(zip(grads, online.trainable_variables))
    return loss


@tf.function
def greedy(s):
    return tf.argmax(online(s), axis=1)


CAP = 20000
buf_s = np.zeros((CAP, 4), "float32")
buf_a = np.zeros(CAP, "int32")
buf_r = np.zeros((CAP, 1), "float32")
buf_s2 = np.zeros((CAP, 4), "float32")
buf_d = np.zeros((CAP, 1), "float32")
head = size = 0
env = Field(N_ENV)
for step in range(1500):
    eps = max(0.1, 1.0 - step / 600)
    s = env.obs()
    a = greedy(tf.constant(s)).numpy()
    explore = rng.random(N_ENV) < eps
    a = np.where(explore, rng.integers(0, len(MOVES), N_ENV), a)
    s2, r, done = env.step(a)
    idx = (head + np.arange(N_ENV)) % CAP
    buf_s[idx], buf_a[idx], buf_s2[idx] = s, a, s2
    buf_r[idx, 0], buf_d[idx, 0] = r, done
    head, size = head + N_ENV, min(size + N_ENV, CAP)
    env.reset(done | (env.t >= HORIZON))
    pick = rng.integers(0, size, BATCH)
    loss = update(*map(tf.constant, (buf_s[pick], buf_a[pick], buf_r[pick], buf_s2[pick], buf_d[pick])))
    if step % 100 == 0:
        target.set_weights(online.get_weights())
        print(step, "td loss", float(loss))

test = Field(400)
landed = np.zeros(400, bool)
for _ in range(HORIZON):
    _, _, hit = test.step(greedy(tf.constant(test.obs())).numpy())
    landed |= hit
print("SCORE landed_rate", round(float(landed.mean()), 4))
