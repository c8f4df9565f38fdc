"""Seismic station: grade the intensity of an event from one channel."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(9)
keras.mixed_precision.set_global_policy("mixed_float16")
N, FRAMES, HOP, GRADES = 6000, 32, 16, 4


def traces(n, rng):
    grade = rng.choice(GRADES, n, p=[0.4, 0.3, 0.2, 0.1])
    amp = np.exp(rng.normal(0.35, 0.25, n)) * np.array([0.6, 1.1, 2.0, 3.6])[grade]
    t = np.arange(FRAMES * HOP)
    onset = rng.integers(40, 300, n)[:, None]
    env = np.where(t > onset, np.exp(-(t - onset) / rng.uniform(60, 160, (n, 1))), 0.0)
    wave = amp[:, None] * env * np.sin(t * rng.uniform(0.25, 0.5, (n, 1)) + rng.uniform(0, 6, (n, 1)))
    wave += 0.15 * rng.normal(size=wave.shape)
    return wave.reshape(n, FRAMES, HOP).astype("float32"), grade


class BandEnergy(keras.layers.Layer):
    """Learned filter bank, energy of each band over the record, in decibel-like units."""

    def __init__(self, bands, gain=12.0, **kw):
        super().__init__(**kw)
        self.bands, self.gain = bands, gain

    def build(self, shape):
        self.filters = self.add_weight(shape=(shape[-1], self.bands), initializer="glorot_normal")

    def call(self, x):
        y = tf.matmul(x, self.filters) * self.gain
        energy = tf.reduce_sum(tf.square(y), axis=1)
        return tf.math.log1p(energy)


inp = keras.Input((FRAMES, HOP))
e = BandEnergy(24)(inp)
h = keras.layers.Dense(64, activation="relu")(e)
h = keras.layers.Dense(64, activation="relu")(h)
logit = keras.layers.Dense(GRADES, dtype="float32")(h)
model = keras.Model(inp, logit)

rng = np.random.default_rng(90)
x, y = traces(N, rng)
xt, yt = traces(1500, rng)
model.compile(
    keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
out = model.fit(x, y, batch_size=32, epochs=8, verbose=2)
p = model.predict(xt, verbose=0)
hit = (p.argmax(-1) == yt) & np.isfinite(p).all(-1)
per = [hit[yt == g].mean().round(3) for g in range(GRADES)]
print("loss", round(out.history["loss"][-1], 4), "held-out accuracy", hit.mean().round(3), "by grade", per)
