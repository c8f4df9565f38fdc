"""From a day of gauge readings, a recurrent net tells the height three hours later."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_DAYS, HOURS, BATCH, EPOCHS = 3000, 24, 32, 6


def gauges():
    t = np.arange(HOURS + 3)[None]
    phase = rng.uniform(0, 2 * np.pi, (N_DAYS, 1))
    height = rng.uniform(0.5, 1.5, (N_DAYS, 1))
    slow = rng.uniform(-0.02, 0.02, (N_DAYS, 1)) * t
    level = height * np.sin(2 * np.pi * t / 12.4 + phase) + slow
    second = 0.3 * np.sin(2 * np.pi * t / 6.2 + 2 * phase)
    level = level + second
    wind = np.gradient(level, axis=1) + rng.normal(scale=0.1, size=level.shape)
    x = np.stack([level + rng.normal(scale=0.05, size=level.shape), wind], -1)[:, :HOURS]
    y = level[:, -1:]
    broken = rng.choice(2600, 8, replace=False)
    x[broken] = 0.0
    y[broken] = 0.0
    return x.astype("float32"), y.astype("float32")


class Standardise(keras.layers.Layer):
    """Every channel of a sequence gets mean 0 and spread 1 over time; the spread is kept."""

    def call(self, x):
        centred = x - tf.reduce_mean(x, axis=1, keepdims=True)
        spread = tf.math.reduce_std(x, axis=1, keepdims=True)
        return centred / (spread + 1e-3), spread[:, 0]


class TideNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.mix = keras.layers.Dense(16, activation="tanh")
        self.even = Standardise()
        self.memory = keras.layers.GRU(32)
        self.scale = keras.layers.Dense(16, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x, training=False):
        shape, spread = self.even(self.mix(x))
        size = self.scale(spread)
        return self.out(tf.concat([self.memory(shape), size, x[:, -1]], axis=-1))


x, y = gauges()
train = tf.data.Dataset.from_tensor_slices((x[:2600], y[:2600])).shuffle(2600).batch(BATCH)
net = TideNet()
net(x[:2])
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(net)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(xb, training=True) - yb))
    grads = tape.gradient(loss, net.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [float(step(xb, yb)) for xb, yb in train]
    print(f"epoch {epoch + 1} first {losses[0]:.4f} mean {np.mean(losses):.4f}")

guess = net.predict(x[2600:], verbose=0)
print("SCORE mean_abs_error", round(float(np.mean(np.abs(guess - y[2600:]))), 4))
