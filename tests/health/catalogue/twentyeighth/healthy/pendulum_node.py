"""Neural ODE for a damped pendulum, learned from short noisy stretches of its motion."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DT, HORIZON, BATCH, STEPS = 0.1, 8, 48, 800


def physics(s):
    return np.stack([s[:, 1], -2.0 * np.sin(s[:, 0]) - 0.15 * s[:, 1]], 1)


def trajectories(n, steps):
    s = np.stack([rng.uniform(-1.8, 1.8, n), rng.uniform(-1.2, 1.2, n)], 1)
    out = [s]
    for _ in range(steps):
        for _ in range(4):
            h = DT / 4
            mid = s + 0.5 * h * physics(s)
            s = s + h * physics(mid)
        out.append(s)
    return np.stack(out, 1).astype("float32")


class Field(keras.Model):
    """What the network adds to the known part (angle' = velocity)."""

    def __init__(self):
        super().__init__()
        self.net = keras.Sequential(
            [
                layers.Dense(48, activation="tanh"),
                layers.Dense(48, activation="tanh"),
                layers.Dense(1, kernel_initializer="zeros"),
            ]
        )

    def call(self, s):
        return tf.concat([s[:, 1:], self.net(s)], 1)


def rk4(f, s):
    k1 = f(s)
    k2 = f(s + 0.5 * DT * k1)
    k3 = f(s + 0.5 * DT * k2)
    k4 = f(s + DT * k3)
    return s + DT / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


field = Field()
field(tf.zeros((1, 2)))
schedule = keras.optimizers.schedules.ExponentialDecay(2e-2, 100, 0.65)
optimizer = keras.optimizers.Adam(schedule)
gradwatch.watch(field)


@tf.function
def train_step(start, path):
    with tf.GradientTape() as tape:
        s, loss = start, 0.0
        for k in range(HORIZON):
            s = rk4(field, s)
            err = s - path[:, k]
            loss += tf.reduce_mean(tf.where(tf.abs(err) < 0.5, err**2, tf.abs(err) - 0.25))
        loss /= HORIZON
    grads = tape.gradient(loss, field.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 0.5)
    optimizer.apply_gradients(zip(grads, field.trainable_variables))
    return loss, norm


clean = trajectories(600, 40)
noisy = clean + 0.02 * rng.normal(size=clean.shape).astype("float32")
test = trajectories(100, 40)

for step in range(STEPS):
    who = rng.integers(0, len(noisy), BATCH)
    begin = rng.integers(0, 40 - HORIZON, BATCH)
    piece = noisy[who[:, None], begin[:, None] + np.arange(HORIZON + 1)[None]]
    loss, norm = train_step(tf.constant(piece[:, 0]), tf.constant(piece[:, 1:]))
    if step % 100 == 0:
        print("step %d  loss %.5f  gradient norm %.3f" % (step, float(loss), float(norm)))

s, path = tf.constant(test[:, 0]), []
for _ in range(40):
    s = rk4(field, s)
    path.append(s.numpy())
error = np.stack(path, 1) - test[:, 1:]
print("SCORE rollout_nrmse %.4f" % (np.sqrt(np.mean(error**2)) / test[:, 1:].std()))
