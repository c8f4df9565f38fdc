"""Trains a variational autoencoder of weekly telephone usage, to spot misused lines."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 71)

HOURS = 7 * 24
LATENT = 6


def usage(n, misused=False):
    """Share of each hour spent in calls, for shops, offices, homes and night workers."""
    hour = np.arange(HOURS) % 24
    weekend = np.arange(HOURS) // 24 >= 5
    centre = rng.choice([10.0, 13.0, 19.0, 23.0], n)[:, None] + rng.normal(0, 1.0, (n, 1))
    width = rng.uniform(1.5, 4.0, (n, 1))
    gap = np.abs((hour[None] - centre + 12) % 24 - 12)
    level = rng.uniform(0.3, 0.9, (n, 1)) * np.where(weekend, rng.uniform(0, 1.2, (n, 1)), 1.0)
    profile = level * np.exp(-0.5 * (gap / width) ** 2)
    if misused:
        for row in profile:
            at = rng.integers(0, HOURS - 9)
            row[at : at + 9] = np.maximum(row[at : at + 9], rng.uniform(0.35, 0.8))
    return np.clip(profile + rng.normal(0, 0.04, profile.shape), 0, 1).astype("float32")


@keras.saving.register_keras_serializable()
class Sample(keras.layers.Layer):
    """Draws the latent code and adds its divergence from the standard normal."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.noise = keras.random.SeedGenerator(SEED)

    def call(self, mean, log_var, training=None):
        divergence = -0.5 * tf.reduce_sum(1 + log_var - mean**2 - tf.exp(log_var), axis=-1)
        self.add_loss(tf.reduce_mean(divergence))
        if not training:
            return mean
        return mean + tf.exp(0.5 * log_var) * keras.random.normal(tf.shape(mean), seed=self.noise)


lines = usage(5000)
week = keras.Input((HOURS,), name="week")
h = keras.layers.Dense(96, activation="gelu")(week)
h = keras.layers.Dense(48, activation="gelu")(h)
mean = keras.layers.Dense(LATENT, name="mean")(h)
log_var = keras.layers.Dense(LATENT, name="log_var", kernel_initializer="zeros")(h)
z = Sample(name="code")(mean, log_var)
h = keras.layers.Dense(48, activation="gelu")(z)
h = keras.layers.Dense(96, activation="gelu")(h)
rebuilt = keras.layers.Dense(HOURS, activation="sigmoid", name="rebuilt")(h)
vae = keras.Model(week, rebuilt, name="usage")
vae.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
gradwatch.watch(vae)
vae.fit(lines, lines, batch_size=50, epochs=14, verbose=2)

usual, odd = usage(800), usage(800, misused=True)
error = [np.square(vae.predict(part, verbose=0) - part).mean(axis=1) for part in (usual, odd)]
print("SCORE rebuild_error", float(error[0].mean()))
print("SCORE auc", float(np.mean(error[1][:, None] > error[0][None])))
