"""Trains a probabilistic forecast of umbrella sales at street stalls from raw weather readings with gaps, by the density of a log-normal."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 9)

FIELDS = ["pressure_pa", "rain_mm", "wind", "temp_k", "passers", "cloud"]


def stalls(n):
    z = rng.normal(size=(n, 6))
    rain = np.maximum(z[:, 1], 0) * 4
    raw = np.stack(
        [
            101325 + 900 * z[:, 0],
            rain,
            np.exp(1 + 0.5 * z[:, 2]),
            283 + 8 * z[:, 3],
            20000 * np.exp(0.8 * z[:, 4]),
            z[:, 5],
        ],
        1,
    )
    mu = -5.0 + 0.5 * rain - 0.3 * z[:, 0] + 0.6 * z[:, 4] + 0.3 * z[:, 5] * (rain > 0)
    sigma = np.where(rain > 0, 0.25, 0.08)
    sold = np.exp(mu + sigma * rng.normal(size=n))  # share of the stall's yearly stock
    gaps = rng.random(raw.shape) < 0.07
    gaps[:, [0, 1]] = False
    raw[gaps] = np.nan
    return raw.astype("float32"), sold.astype("float32")


raw, sold = stalls(16000)
raw_t, sold_t = stalls(4000)


class CleanAndScale(keras.layers.Layer):
    """Takes logs of skewed fields, standardises, puts zero for a gap and appends the gap flags."""

    def adapt(self, raw):
        z = self.curved(tf.constant(raw)).numpy()
        self.mean, self.std = np.nanmean(z, 0), np.nanstd(z, 0)

    def curved(self, raw):
        p, r, w, t, n, c = tf.unstack(raw, axis=-1)
        return tf.stack([p, tf.math.log1p(r), tf.math.log(w), t, tf.math.log(n), c], axis=-1)

    def call(self, raw):
        z = (self.curved(raw) - self.mean) / self.std
        gap = tf.math.is_nan(z)
        return tf.concat([tf.where(gap, 0.0, z), tf.cast(gap, tf.float32)], axis=-1)


clean = CleanAndScale()
clean.adapt(raw)
inp = keras.Input((6,))
h = clean(inp)
h = keras.layers.Dense(64, activation="tanh")(h)
h = keras.layers.Dense(64, activation="tanh")(h)
centre = float(np.log(sold).mean())
mu = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(centre), name="mu")(h)
spread = keras.layers.Dense(1, activation="softplus", name="sigma")(h)
model = keras.Model(inp, keras.layers.Concatenate()([mu, spread]))


def neg_log_density(y, out):
    m, s = out[:, :1], out[:, 1:] + 0.02
    ly = tf.math.log(y)
    return tf.math.log(s) + 0.5 * tf.square((ly - m) / s) + ly + 0.919


model.compile(keras.optimizers.Adam(1e-3, clipnorm=5.0), loss=neg_log_density)
gradwatch.watch(model)
model.fit(raw, sold[:, None], batch_size=128, epochs=20, validation_split=0.1, verbose=2)

nll = float(tf.reduce_mean(neg_log_density(sold_t[:, None], model.predict(raw_t, verbose=0))))
print("SCORE negative_log_density", round(nll, 4))
