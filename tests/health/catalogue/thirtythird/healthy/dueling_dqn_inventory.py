"""Dueling double DQN with replay which decides a shop's daily reorders under random demand."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


CAP, ACTIONS, GAMMA = 20, 7, 0.9
WEEK = np.array([2.0, 2.0, 2.5, 3.0, 4.5, 6.0, 1.0])


class Shop:
    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.stock = rng.integers(0, CAP, n)
        self.coming = np.zeros(n, int)
        self.day = rng.integers(0, 7, n)

    def obs(self):
        ang = 2 * np.pi * self.day / 7
        return np.stack([self.stock / CAP, self.coming / CAP, np.sin(ang), np.cos(ang)], 1).astype("float32")

    def step(self, a):
        order = a * 2
        self.stock = np.minimum(self.stock + self.coming, CAP)
        demand = self.rng.poisson(WEEK[self.day])
        sold = np.minimum(demand, self.stock)
        self.stock = self.stock - sold
        reward = 1.0 * sold - 0.12 * self.stock - 0.3 * (demand - sold) - 0.35 * order - 0.4 * (order > 0)
        self.coming = order
        self.day = (self.day + 1) % 7
        return reward.astype("float32") / 5


def make_net():
    inp = keras.Input((4,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(64, activation="relu")(h)
    v = layers.Dense(1)(layers.Dense(32, activation="relu")(h))
    adv = layers.Dense(ACTIONS)(layers.Dense(32, activation="relu")(h))
    adv = layers.Lambda(lambda t: t - keras.ops.mean(t, axis=1, keepdims=True))(adv)
    return keras.Model(inp, layers.Add()([v, adv]))


online, target = make_net(), make_net()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3, clipnorm=1.0)
TAU = 0.01
gradwatch.watch(online)


@tf.function
def q_values(s):
    return online(s)


@tf.function
def train_step(s, a, r, s2):
    pick = tf.argmax(online(s2), axis=1)
    y = r + GAMMA * tf.gather(target(s2), pick, batch_dims=1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(online(s, training=True) * tf.one_hot(a, ACTIONS), axis=1)
        loss = tf.reduce_mean(keras.losses.huber(y[:, None], q[:, None]))
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    for w, t in zip(online.trainable_variables, target.trainable_variables):
        t.assign(TAU * w + (1 - TAU) * t)
    return loss


N_ENV, SIZE = 16, 10000
S, A = np.zeros((SIZE, 4), "float32"), np.zeros(SIZE, "int32")
R, S2 = np.zeros(SIZE, "float32"), np.zeros((SIZE, 4), "float32")
shop, n_seen = Shop(N_ENV, rng), 0
for step in range(1350):
    eps = max(0.05, 1 - step / 700)
    s = shop.obs()
    a = np.where(rng.random(N_ENV) < eps, rng.integers(0, ACTIONS, N_ENV), q_values(s).numpy().argmax(1))
    r = shop.step(a)
    i = (n_seen + np.arange(N_ENV)) % SIZE
    S[i], A[i], R[i], S2[i] = s, a, r, shop.obs()
    n_seen += N_ENV
    if step >= 50:
        b = rng.integers(0, min(n_seen, SIZE), 64)
        loss = train_step(S[b], A[b], R[b], S2[b])
        if step % 200 == 0:
            print("step", step, "loss", round(float(loss), 4), "reward", round(float(r.mean()), 3))

test, total = Shop(128, np.random.default_rng(7)), 0.0
rand, total_rand = Shop(128, np.random.default_rng(7)), 0.0
for _ in range(60):
    total += test.step(q_values(test.obs()).numpy().argmax(1)).mean() / 60
    total_rand += rand.step(rng.integers(0, ACTIONS, 128)).mean() / 60
print("random policy", round(float(total_rand), 4))
print("SCORE reward_per_day", round(float(total), 4))
