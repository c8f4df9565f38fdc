"""Teaches a deep Q-network to balance a pole on a cart, with replay memory and a target network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ENVS, LIMIT, GAMMA = 8, 200, 0.98


def reset(n):
    return rng.uniform(-0.05, 0.05, (n, 4))


def physics(s, a):
    x, xd, th, thd = s.T
    force = np.where(a == 1, 10.0, -10.0)
    tmp = (force + 0.05 * thd**2 * np.sin(th)) / 1.1
    tha = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
    xa = tmp - 0.05 * tha * np.cos(th) / 1.1
    s2 = np.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
    fell = (np.abs(s2[:, 0]) > 2.4) | (np.abs(s2[:, 2]) > 0.2095)
    return s2, fell


def make_net():
    return keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(48, activation="relu"),
            layers.Dense(48, activation="relu"),
            layers.Dense(2),
        ]
    )


model, target_net = make_net(), make_net()
target_net.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
gradwatch.watch(model)


@tf.function
def q_values(s):
    return model(s, training=False)


@tf.function
def train_step(s, a, r, s2, done):
    next_q = tf.reduce_max(target_net(s2, training=False), axis=1)
    target = r + GAMMA * next_q
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(s, training=True) * tf.one_hot(a, 2), axis=1)
        loss = huber(target, q)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


CAP = 20000
S, A, R = np.zeros((CAP, 4), "float32"), np.zeros(CAP, "int32"), np.zeros(CAP, "float32")
S2, D = np.zeros((CAP, 4), "float32"), np.zeros(CAP, "float32")
ptr = size = updates = 0
state, age, lengths = reset(ENVS), np.zeros(ENVS, int), []
for step in range(1600):
    eps = max(0.05, 1.0 - step / 600)
    act = q_values(tf.constant(state, tf.float32)).numpy().argmax(1)
    act = np.where(rng.random(ENVS) < eps, rng.integers(0, 2, ENVS), act)
    nxt, fell = physics(state, act)
    age += 1
    idx = (ptr + np.arange(ENVS)) % CAP
    S[idx], A[idx], R[idx], S2[idx], D[idx] = state, act, 1.0, nxt, fell
    ptr, size = (ptr + ENVS) % CAP, min(size + ENVS, CAP)
    over = fell | (age >= LIMIT)
    lengths += age[over].tolist()
    nxt[over], age[over] = reset(int(over.sum())), 0
    state = nxt
    if step >= 100:
        b = rng.integers(0, size, 64)
        loss = train_step(S[b], A[b], R[b], S2[b], D[b])
        updates += 1
        if updates % 100 == 0:
            target_net.set_weights(model.get_weights())
        if updates % 500 == 0:
            print("step", step, "loss", round(float(loss), 4), "mean length", np.mean(lengths[-20:]))

state, alive, total = reset(32), np.ones(32, bool), np.zeros(32)
for _ in range(LIMIT):
    total += alive
    state, fell = physics(state, q_values(tf.constant(state, tf.float32)).numpy().argmax(1))
    alive &= ~fell
    if not alive.any():
        break
print("SCORE episode_length", round(float(total.mean()), 2))
