"""Trains a double DQN with replay memory and a slowly updated target network to balance a cart pole, stepped in several copies at once."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ENVS, LIMIT = 8, 200
GAMMA, BATCH, TAU = 0.98, 64, 0.01


class CartPoles:
    """Euler-integrated cart poles; an episode ends by a fall (terminal) or by the time limit (truncation)."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.s = self._fresh(n)
        self.t = np.zeros(n, "int32")

    def _fresh(self, n):
        return self.rng.uniform(-0.05, 0.05, (n, 4))

    def step(self, a):
        x, v, th, om = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        cos, sin = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * om**2 * sin) / 1.1
        acc_th = (9.8 * sin - cos * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
        acc_x = tmp - 0.05 * acc_th * cos / 1.1
        nxt = np.stack([x + 0.02 * v, v + 0.02 * acc_x, th + 0.02 * om, om + 0.02 * acc_th], 1)
        self.t += 1
        fallen = (np.abs(nxt[:, 0]) > 2.4) | (np.abs(nxt[:, 2]) > 0.2095)
        over = fallen | (self.t >= LIMIT)
        self.s = nxt.copy()
        self.s[over] = self._fresh(int(over.sum()))
        lengths = self.t[over].copy()
        self.t[over] = 0
        return nxt, fallen, over, lengths


SCALE = np.array([2.4, 2.0, 0.21, 2.0])


def obs(s):
    return (s / SCALE).astype("float32")


def build():
    inp = keras.Input((4,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, layers.Dense(2)(h))


model, target = build(), build()
target.set_weights(model.get_weights())
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(1e-3, clipnorm=10.0)
huber = keras.losses.Huber()


@tf.function
def train_step(s, a, r, s2, done):
    best = tf.argmax(model(s2), axis=1)
    q_next = tf.gather(target(s2), best, batch_dims=1)
    goal = tf.stop_gradient(r + GAMMA * (1.0 - done) * q_next)
    with tf.GradientTape() as tape:
        q = tf.gather(model(s, training=True), a, batch_dims=1)
        loss = huber(goal[:, None], q[:, None])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for w_target, w in zip(target.trainable_variables, model.trainable_variables):
        w_target.assign_add(TAU * (w - w_target))
    return loss


@tf.function
def q_values(s):
    return model(s)


def evaluate(policy, episodes=30):
    envs = CartPoles(episodes, np.random.default_rng(1000 + seed))
    first = np.zeros(episodes)
    for _ in range(LIMIT):
        before = envs.t.copy()
        _, _, over, _ = envs.step(policy(envs.s))
        first = np.where(over & (first == 0), before + 1, first)
    return float(first.mean())


# Replay memory as ring buffers.
CAP = 20000
mem_s, mem_s2 = np.zeros((CAP, 4), "float32"), np.zeros((CAP, 4), "float32")
mem_a, mem_d = np.zeros(CAP, "int32"), np.zeros(CAP, "float32")
pos, filled = 0, 0
envs = CartPoles(N_ENVS, rng)
STEPS, WARM = 1400, 100
recent = []
for it in range(WARM + STEPS):
    eps = max(0.05, 1.0 - 0.95 * max(it - WARM, 0) / 500)
    s = envs.s.copy()
    a = q_values(tf.constant(obs(s))).numpy().argmax(1)
    explore = rng.random(N_ENVS) < eps
    a = np.where(explore, rng.integers(0, 2, N_ENVS), a)
    nxt, fallen, over, lengths = envs.step(a)
    recent.extend(lengths.tolist())
    idx = (pos + np.arange(N_ENVS)) % CAP
    mem_s[idx], mem_s2[idx], mem_a[idx], mem_d[idx] = obs(s), obs(nxt), a, fallen
    pos, filled = (pos + N_ENVS) % CAP, min(filled + N_ENVS, CAP)
    if it < WARM:
        continue
    pick = rng.integers(0, filled, BATCH)
    loss = train_step(
        tf.constant(mem_s[pick]),
        tf.constant(mem_a[pick]),
        tf.ones(BATCH),
        tf.constant(mem_s2[pick]),
        tf.constant(mem_d[pick]),
    )
    if (it - WARM) % 200 == 199:
        print(f"step {it - WARM + 1} loss {float(loss):.4f} eps {eps:.2f} recent length {np.mean(recent[-20:]):.1f}")

random_policy = np.random.default_rng(seed + 5)
print("BASELINE episode_length", round(evaluate(lambda s: random_policy.integers(0, 2, len(s))), 1))
print("SCORE episode_length", round(evaluate(lambda s: q_values(tf.constant(obs(s))).numpy().argmax(1)), 1))
