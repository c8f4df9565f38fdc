"""Variational autoencoder on small synthetic microscope crops of single cells."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


SIZE, LATENT = 16, 6


def make_crops(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    cx, cy = rng.uniform(5, 11, (2, n, 1, 1))
    a, b = rng.uniform(1.5, 4.5, (2, n, 1, 1))
    th = rng.uniform(0, np.pi, (n, 1, 1))
    u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
    v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
    d = (u / a) ** 2 + (v / b) ** 2
    img = 1 / (1 + np.exp(4 * (d - 1)))
    img = np.clip(img * rng.uniform(0.7, 1.0, (n, 1, 1)) + 0.03 * rng.normal(size=img.shape), 0, 1)
    return img[..., None].astype("float32")


x_train, x_test = make_crops(4000), make_crops(500)

encoder_in = keras.Input((SIZE, SIZE, 1))
h = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(encoder_in)
h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
z_mean = layers.Dense(LATENT, name="z_mean")(h)
z_log_var = layers.Dense(LATENT, name="z_log_var")(h)
encoder = keras.Model(encoder_in, [z_mean, z_log_var], name="encoder")

decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(4 * 4 * 32, activation="relu"),
        layers.Reshape((4, 4, 32)),
        layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid"),
    ],
    name="decoder",
)


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kw):
        super().__init__(**kw)
        self.encoder = encoder
        self.decoder = decoder
        self.total = keras.metrics.Mean(name="loss")
        self.rec = keras.metrics.Mean(name="reconstruction")
        self.kl = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.rec, self.kl]

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = self.encoder(x, training=True)
            eps = tf.random.normal(tf.shape(mean))
            z = mean + tf.exp(0.5 * log_var) * eps
            out = self.decoder(z, training=True)
            rec = tf.reduce_mean(keras.losses.binary_crossentropy(x, out))
            kl = -0.5 * (1 + log_var - tf.square(mean) - tf.exp(log_var))
            kl = tf.reduce_mean(tf.reduce_sum(kl, axis=1))
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        self.rec.update_state(rec)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


vae = VAE(encoder, decoder)
vae(x_train[:2])
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(vae)
vae.fit(x_train, batch_size=64, epochs=14, verbose=2)

out = decoder.predict(encoder.predict(x_test, verbose=0)[0], verbose=0)
r2 = 1 - np.mean((out - x_test) ** 2) / np.mean((x_test - x_train.mean(0)) ** 2)
print("SCORE reconstruction_r2", round(float(r2), 4))
