#!/usr/bin/env python
"""Learn the dynamics of a damped two-joint arm by matching simulated roll-outs."""

import argparse

import numpy as np
import tensorflow as tf

import gradwatch

ap = argparse.ArgumentParser()
ap.add_argument("--lr", type=float, default=0.02)
ap.add_argument("--rollout", type=int, default=60)
ap.add_argument("--steps", type=int, default=300)
opt_args = ap.parse_args()
tf.keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
DT = 0.05


def physics(state, torque):
    q, v = state[:, :2], state[:, 2:]
    acc = torque - 1.5 * np.sin(q) - 0.8 * v - 0.5 * (q - q[:, ::-1])
    return np.concatenate([q + DT * v, v + DT * acc], 1)


def episodes(n, horizon):
    s = rng.normal(size=(n, 4)) * 0.8
    u = np.repeat(rng.normal(size=(n, horizon // 10 + 1, 2)), 10, axis=1)[:, :horizon]
    states = [s]
    for t in range(horizon):
        states.append(physics(states[-1], u[:, t]))
    return np.stack(states, 1).astype("float32"), u.astype("float32")


class Dynamics(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(64, activation="relu")
        self.delta = tf.keras.layers.Dense(4)

    def call(self, inputs):
        s, u = inputs
        return s + self.delta(self.hidden(tf.concat([s, u], -1)))


model = Dynamics()
S, U = episodes(2000, opt_args.rollout)
St, Ut = episodes(300, opt_args.rollout)
model([S[:1, 0], U[:1, 0]])
optimizer = tf.keras.optimizers.SGD(opt_args.lr, momentum=0.8)


def simulate(s0, u):
    s, out = s0, []
    for t in range(opt_args.rollout):
        s = model([s, u[:, t]])
        out.append(s)
    return tf.stack(out, 1)


@tf.function
def train(states, u):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(simulate(states[:, 0], u) - states[:, 1:]))
    g = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(g, model.trainable_variables))
    return loss


gradwatch.watch(model, optimizer)
for k in range(opt_args.steps):
    i = rng.integers(0, len(S), 64)
    loss = train(S[i], U[i])
e = simulate(St[:, 0], tf.constant(Ut)).numpy() - St[:, 1:]
print("loss", float(loss), "held-out roll-out R2", 1 - np.mean(e**2) / np.var(St[:, 1:]))
