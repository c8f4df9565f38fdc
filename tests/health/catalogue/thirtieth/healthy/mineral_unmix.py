"""Restore clean mineral reflectance spectra from noisy field scans with a deep zero-gated residual net."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BANDS, MINERALS, N = 60, 5, 3000
grid = np.linspace(0, 1, BANDS)
pure = np.stack(
    [
        sum(rng.normal(0, 1) * np.exp(-(((grid - rng.uniform(0, 1)) / rng.uniform(0.03, 0.15)) ** 2)) for _ in range(5))
        for _ in range(MINERALS)
    ]
)
share = rng.dirichlet(np.full(MINERALS, 0.5), N)
clean = share @ pure + 0.5 * (share[:, :1] * share[:, 1:2]) * pure[2]
noisy = clean + rng.normal(0, 0.6, clean.shape)
clean, noisy = clean.astype("float32"), noisy.astype("float32")


class Gate(layers.Layer):
    def build(self, shape):
        self.alpha = self.add_weight(name="alpha", shape=(), initializer="zeros")

    def call(self, x):
        return self.alpha * x


def spectral_angle(y_true, y_pred):
    dot = tf.reduce_sum(tf.nn.l2_normalize(y_true, -1) * tf.nn.l2_normalize(y_pred, -1), -1)
    return -dot


inp = keras.Input((BANDS,))
h = layers.Dense(48)(inp)
for _ in range(14):
    r = layers.Dense(48, activation="relu")(h)
    r = Gate()(r)
    h = layers.Add()([h, r])
out = layers.Dense(BANDS)(h)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.CosineDecay(1e-3, 700, warmup_target=0.15, warmup_steps=120), momentum=0.9
    ),
    loss=spectral_angle,
)
gradwatch.watch(model)
model.fit(noisy[:2500], clean[:2500], validation_data=(noisy[2500:], clean[2500:]), batch_size=64, epochs=20, verbose=2)

cos = -np.mean(spectral_angle(clean[2500:], model(noisy[2500:])).numpy())
base = -np.mean(spectral_angle(clean[2500:], noisy[2500:]).numpy())
print("cosine of the raw scan", round(float(base), 4))
print("SCORE cosine", round(float(cos), 4))
