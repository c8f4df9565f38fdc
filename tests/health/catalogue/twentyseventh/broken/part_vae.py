"""VAE on small height maps of machined parts, used to compress and redraw them."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE, LATENT = 16, 6


def height_maps(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / (SIZE - 1)
    maps = np.zeros((n, SIZE, SIZE))
    for i in range(n):
        cy, cx = rng.uniform(0.25, 0.75, 2)
        ry, rx = rng.uniform(0.12, 0.35, 2)
        body = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2
        tilt = rng.uniform(-0.3, 0.3)
        maps[i] = (0.6 + tilt * (xx - 0.5)) / (1 + np.exp(8 * (body - 1)))
    return np.clip(maps + rng.normal(0, 0.01, maps.shape), 0, 1).astype("float32")[..., None]


x_train, x_test = height_maps(4000), height_maps(500)

enc_in = layers.Input((SIZE, SIZE, 1))
h = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(enc_in)
h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
encoder = keras.Model(enc_in, [layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)], name="encoder")

dec_in = layers.Input((LATENT,))
h = layers.Dense(4 * 4 * 32, activation="relu")(dec_in)
h = layers.Reshape((4, 4, 32))(h)
h = layers.Conv2DTranspose(24, 3, strides=2, padding="same", activation="relu")(h)
h = layers.Conv2DTranspose(12, 3, strides=2, padding="same", activation="relu")(h)
decoder = keras.Model(dec_in, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h), name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.seed_gen = keras.random.SeedGenerator(seed)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.recon_tracker = keras.metrics.Mean(name="recon")
        self.kl_tracker = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.loss_tracker, self.recon_tracker, self.kl_tracker]

    def call(self, x):
        mean, _ = self.encoder(x)
        return self.decoder(mean)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = self.encoder(x, training=True)
            eps = keras.random.normal(ops.shape(mean), seed=self.seed_gen)
            z = mean + ops.exp(0.5 * log_var) * eps
            y = self.decoder(z, training=True)
            recon = ops.mean(keras.losses.binary_crossentropy(x, y))
            kl = -0.5 * (1 + log_var - ops.square(mean) - ops.exp(log_var))
            kl = ops.mean(ops.sum(kl, axis=1))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.recon_tracker.update_state(recon)
        self.kl_tracker.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


vae = VAE(encoder, decoder)
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(vae)
vae.fit(x_train, epochs=10, batch_size=64, verbose=2)

redrawn = decoder.predict(encoder.predict(x_test, verbose=0)[0], verbose=0)
mse = np.mean((redrawn - x_test) ** 2)
base = np.mean((x_test - x_train.mean(0)) ** 2)
print("mse %.5f, mean image %.5f" % (mse, base))
print("SCORE explained_variance %.4f" % (1 - mse / base))
