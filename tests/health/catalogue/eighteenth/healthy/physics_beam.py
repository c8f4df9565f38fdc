"""Density of a particle beam (x, x', y, y') with a coupling flow."""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
STEPS, BATCH = 900, 256


def beam(n):
    arm = rng.integers(0, 2, n)
    x = rng.normal(0, 0.03, n) + np.where(arm == 0, -0.05, 0.05)
    xp = 6.0 * x**2 + rng.normal(0, 0.004, n)
    y = rng.normal(0, 0.02, n)
    yp = 0.04 * np.sin(60 * y) + 0.3 * x + rng.normal(0, 0.006, n)
    return np.stack([x, xp, y, yp], 1).astype("float32")


class Coupling(tf.keras.layers.Layer):
    def __init__(self, order, width=48):
        super().__init__()
        self.order = order
        self.net = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(width, activation="relu"),
                tf.keras.layers.Dense(width, activation="relu"),
                tf.keras.layers.Dense(4, kernel_initializer="zeros"),
            ]
        )

    def call(self, z):
        z = tf.gather(z, self.order, axis=1)
        keep, move = z[:, :2], z[:, 2:]
        shift, s = tf.split(self.net(keep), 2, axis=1)
        s = 2.0 * tf.tanh(0.5 * s)
        return tf.concat([keep, move * tf.exp(s) + shift], 1), tf.reduce_sum(s, 1)


class Flow(tf.keras.Model):
    def __init__(self, scale):
        super().__init__()
        self.log_gain = self.add_weight(name="gain", shape=(4,), initializer="zeros")
        self.scale = tf.constant(scale, tf.float32)
        orders = [[0, 1, 2, 3], [2, 3, 0, 1], [0, 2, 1, 3], [1, 3, 0, 2], [2, 1, 3, 0], [3, 0, 2, 1]]
        self.steps = [Coupling(o) for o in orders]

    def call(self, x):
        z = x / self.scale * tf.exp(self.log_gain)
        logdet = tf.reduce_sum(self.log_gain) - tf.reduce_sum(tf.math.log(self.scale))
        for s in self.steps:
            z, ld = s(z)
            logdet += ld
        return logdet - 0.5 * tf.reduce_sum(tf.square(z), 1) - 2.0 * np.log(2 * np.pi)


class WarmCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        return 2e-3 * tf.minimum(s / 100.0, 0.5 * (1 + tf.cos(np.pi * s / STEPS)) + 1e-3)


data, held = beam(20000), beam(4000)
flow = Flow(data.std(0))
flow(data[:2])
opt = tf.keras.optimizers.Adam(WarmCosine(), global_clipnorm=1.0)
gradwatch.watch(flow, opt)


@tf.function
def fit_batch(xb):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(flow(xb, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, flow.trainable_variables), flow.trainable_variables))
    return loss


for i in range(STEPS):
    loss = fit_batch(tf.constant(data[rng.integers(0, len(data), BATCH)]))
    if i % 100 == 0:
        print(i, float(loss))

centred = data - data.mean(0)
cov = centred.T @ centred / len(data)
d = held - data.mean(0)
gauss = float(np.mean(0.5 * np.sum(d @ np.linalg.inv(cov) * d, 1)) + 0.5 * np.linalg.slogdet(2 * np.pi * cov)[1])
print(f"loss {float(loss):.4f}  held-out NLL {-float(tf.reduce_mean(flow(held))):.4f}  (one Gaussian {gauss:.4f})")
