"""Compress folded light curves of variable stars (128 phase bins)."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers

import gradwatch

SEED = 8
tf.keras.utils.set_random_seed(SEED)


def folded(n, seed):
    r = np.random.default_rng(seed)
    ph = np.linspace(0, 1, 128, endpoint=False)[None]
    kind = r.integers(0, 3, (n, 1))
    shift = r.uniform(0, 1, (n, 1))
    p = (ph + shift) % 1
    saw = np.where(p < 0.2, 5 * p, (1 - p) / 0.8) - 0.5
    ecl = -np.exp(-(((p - 0.3) / 0.08) ** 2)) - r.uniform(0.3, 0.8, (n, 1)) * np.exp(-(((p - 0.8) / 0.08) ** 2))
    sin = np.sin(2 * np.pi * p) + 0.3 * np.sin(4 * np.pi * p + r.uniform(0, 6, (n, 1)))
    c = np.choose(kind, [saw, ecl, sin]) * r.uniform(0.8, 1.2, (n, 1))
    c = (c - c.mean(1, keepdims=True)) / c.std(1, keepdims=True)
    return (c + 0.15 * r.normal(size=c.shape)).astype("float32")[..., None]


class Encoder(layers.Layer):
    def __init__(self):
        super().__init__()
        self.net = tf.keras.Sequential(
            [
                layers.Conv1D(16, 7, strides=2, padding="same", activation="relu"),
                layers.Conv1D(32, 5, strides=4, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(10),
            ]
        )

    def call(self, x):
        return self.net(x)


class Decoder(layers.Layer):
    def __init__(self):
        super().__init__()
        self.net = tf.keras.Sequential(
            [
                layers.Dense(16 * 32, activation="relu"),
                layers.Reshape((16, 32)),
                layers.Conv1DTranspose(32, 5, strides=4, padding="same", activation="relu"),
                layers.Conv1DTranspose(1, 7, strides=2, padding="same", activation="sigmoid"),
            ]
        )

    def call(self, z):
        return self.net(z)


class CurveAE(Model):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = Encoder(), Decoder()

    def call(self, x):
        return self.dec(self.enc(x))


train, test = folded(4000, 1), folded(600, 2)
ae = CurveAE()
ae.build((None, 128, 1))
ae.compile(optimizer=tf.keras.optimizers.Nadam(1e-3), loss=tf.keras.losses.Huber(1.0))
gradwatch.watch(ae)
h = ae.fit(train, train, epochs=8, batch_size=64, verbose=0)
rec = ae.predict(test, verbose=0)
print("final loss %.4f, R2 on unseen stars %.3f" % (h.history["loss"][-1], 1 - np.mean((rec - test) ** 2) / test.var()))
