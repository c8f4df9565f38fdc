"""A variational autoencoder for wafer maps (16 x 16), to find odd wafers later."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 30)

SIDE, LATENT = 16, 6
N_TRAIN, N_TEST = 3000, 500
BATCH = 64
EPOCHS = 14


def wafers(n):
    yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    cx, cy = rng.uniform(-0.6, 0.6, (2, n, 1, 1))
    width = rng.uniform(0.25, 0.6, (n, 1, 1))
    tilt = rng.normal(size=(n, 1, 1))
    spot = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * width**2))
    field = 3.0 * spot + 0.8 * tilt * xx - 1.2
    field += 0.3 * rng.normal(size=field.shape)
    return (1.0 / (1.0 + np.exp(-2.0 * field))).reshape(n, -1).astype("float32")


x_train, x_test = wafers(N_TRAIN), wafers(N_TEST)


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(SEED)

    def call(self, inputs):
        mean, log_var = inputs
        eps = keras.random.normal(tf.shape(mean), seed=self.seed_generator)
        return mean + tf.exp(0.5 * log_var) * eps


class WaferVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(128, activation="relu"), layers.Dense(64, activation="relu")])
        self.to_mean = layers.Dense(LATENT)
        self.to_log_var = layers.Dense(LATENT)
        self.sampling = Sampling()
        self.decoder = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(128, activation="relu"),
                layers.Dense(SIDE * SIDE, activation="sigmoid"),
            ]
        )
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.decoder(self.to_mean(self.encoder(x)))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            h = self.encoder(x, training=True)
            mean, log_var = self.to_mean(h), self.to_log_var(h)
            recon = self.decoder(self.sampling((mean, log_var)), training=True)
            recon_loss = tf.reduce_mean(tf.square(x - recon))
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            loss = recon_loss + tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


vae = WaferVAE()
vae(x_train[:2])
vae.sampling((tf.zeros((1, LATENT)), tf.zeros((1, LATENT))))
vae.to_log_var(vae.encoder(x_train[:2]))
vae.compile(optimizer=keras.optimizers.Adam(1e-3))
watch = gradwatch.watch(vae)
vae.fit(x_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

recon = vae(x_test).numpy()
r2 = 1.0 - np.sum((x_test - recon) ** 2) / np.sum((x_test - x_test.mean(axis=0)) ** 2)
print("score", round(float(r2), 4))
