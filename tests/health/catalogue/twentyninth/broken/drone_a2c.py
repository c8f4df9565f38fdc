"""Trains an actor-critic that steers a small drone on a plane towards its landing pad against the wind."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ENVS, HORIZON, UPDATES, GAMMA, EP_LEN = 16, 8, 700, 0.9, 30
PUSH = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], "float32") * 0.12


class Field:
    def __init__(self, n):
        self.n = n
        self.pos, self.pad, self.wind = (np.zeros((n, 2), "float32") for _ in range(3))
        self.t = np.zeros(n, int)
        self.reset(np.ones(n, bool))
        self.t = rng.integers(0, EP_LEN, n)

    def reset(self, m):
        k = int(m.sum())
        self.pos[m] = rng.uniform(-1, 1, (k, 2))
        self.pad[m] = rng.uniform(-1, 1, (k, 2))
        self.wind[m] = rng.normal(0, 0.03, (k, 2))
        self.t[m] = 0

    def obs(self):
        return np.concatenate([self.pos, self.pad - self.pos, self.wind * 10], 1).astype("float32")

    def dist(self):
        return np.linalg.norm(self.pos - self.pad, axis=1)

    def step(self, a):
        before = self.dist()
        self.pos = np.clip(self.pos + PUSH[a] + self.wind, -1.5, 1.5).astype("float32")
        self.t += 1
        r = 5.0 * (before - self.dist())
        done = self.t >= EP_LEN
        self.reset(done)
        return r.astype("float32"), done


inp = keras.Input((6,))
h = layers.Dense(64, activation="tanh")(inp)
h = layers.Dense(64, activation="tanh")(h)
model = keras.Model(inp, [layers.Dense(5, name="policy")(h), layers.Dense(1, name="value")(h)])
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def act(o):
    logits, v = model(o)
    return tf.random.categorical(logits, 1)[:, 0], v[:, 0]


@tf.function
def update(o, a, ret):
    with tf.GradientTape() as tape:
        logits, value = model(o, training=True)
        logp_all = tf.nn.log_softmax(logits)
        logp = tf.reduce_sum(logp_all * tf.one_hot(a, 5), axis=-1)
        adv = ret[:, None] - value
        policy_loss = -tf.reduce_mean(logp * tf.stop_gradient(adv))
        value_loss = tf.reduce_mean(tf.square(adv))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, -1))
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return policy_loss, value_loss, entropy


env = Field(N_ENVS)
for it in range(UPDATES):
    O, A, R, D = [], [], [], []
    for _ in range(HORIZON):
        o = env.obs()
        a, _v = act(o)
        r, d = env.step(a.numpy())
        O.append(o)
        A.append(a.numpy())
        R.append(r)
        D.append(d)
    g = act(env.obs())[1].numpy()
    G = []
    for r, d in zip(R[::-1], D[::-1]):
        g = r + GAMMA * g * (1 - d)
        G.append(g)
    G = np.stack(G[::-1]).astype("float32")
    pl, vl, en = update(np.concatenate(O), np.concatenate(A), G.reshape(-1))
    if it % 100 == 0:
        print(f"{it:4d} policy {pl:.3f} value {vl:.3f} entropy {en:.3f} reward {np.mean(R):.3f}")

test = Field(300)
test.reset(np.ones(300, bool))
for _ in range(EP_LEN - 1):
    test.step(tf.argmax(model(test.obs())[0], axis=-1).numpy())
print("SCORE final_distance", float(test.dist().mean()))
