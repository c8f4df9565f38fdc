import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BINS = 96
LATENT = 6


def make_spectra(n):
    kind = rng.integers(0, 4, n)
    pitch = rng.uniform(4, 14, n)
    grid = np.arange(BINS)[None, :]
    out = np.zeros((n, BINS), "float32")
    for harmonic in range(1, 7):
        level = 1.0 / (1.0 + np.abs(harmonic - 1 - kind)) ** 1.2
        out += level[:, None] * np.exp(-0.5 * ((grid - harmonic * pitch[:, None]) / 1.1) ** 2)
    out /= out.max(axis=1, keepdims=True)
    return np.where(out > 0.25, 1.0, 0.0).astype("float32")


x_train, x_test = make_spectra(4000), make_spectra(800)


class Sampling(keras.layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        noise = tf.random.normal(tf.shape(mean))
        return mean + tf.exp(0.5 * log_var) * noise


class SpectrumVAE(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    @property
    def metrics(self):
        return [self.loss_tracker]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(x, training=True)
            p = self.decoder(z, training=True)
            bits = x * tf.math.log(p) + (1.0 - x) * tf.math.log(1.0 - p)
            reconstruction = -tf.reduce_mean(tf.reduce_sum(bits, axis=1))
            kl = -0.5 * tf.reduce_sum(1.0 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            loss = reconstruction + 0.5 * tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


inp = keras.Input((BINS,))
h = keras.layers.Dense(256, activation="relu")(inp)
h = keras.layers.Dense(128, activation="relu")(h)
mean = keras.layers.Dense(LATENT, name="z_mean")(h)
log_var = keras.layers.Dense(LATENT, name="z_log_var")(h)
encoder = keras.Model(inp, [mean, log_var, Sampling()([mean, log_var])], name="encoder")

zin = keras.Input((LATENT,))
h = keras.layers.Dense(128, activation="relu")(zin)
h = keras.layers.Dense(256, activation="relu")(h)
decoder = keras.Model(zin, keras.layers.Dense(BINS, activation="sigmoid", name="bins")(h), name="decoder")

vae = SpectrumVAE(encoder, decoder)
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(vae)

pipeline = tf.data.Dataset.from_tensor_slices(x_train).shuffle(4000, seed=SEED).batch(64)
vae.fit(pipeline, epochs=25, verbose=2)

recon = vae(x_test).numpy()
base = np.mean((x_test - x_train.mean(0)) ** 2)
print("SCORE", 1.0 - np.mean((x_test - recon) ** 2) / base)
