"""Trains a variational autoencoder on small images of ellipses, to have a compact code of their shape and place."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIZE, CODE = 16, 6


def make_images(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(5, 11, (2, n, 1, 1))
    a, b = rng.uniform(2, 5, (2, n, 1, 1))
    turn = rng.uniform(0, np.pi, (n, 1, 1))
    u = (xx - cx) * np.cos(turn) + (yy - cy) * np.sin(turn)
    v = -(xx - cx) * np.sin(turn) + (yy - cy) * np.cos(turn)
    return (1 / (1 + np.exp(6 * ((u / a) ** 2 + (v / b) ** 2 - 1))))[..., None].astype("float32")


x_train, x_test = make_images(6400), make_images(500)


class VAE(keras.Model):
    def __init__(self, code):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(2 * code),
            ],
            name="encoder",
        )
        self.decoder = keras.Sequential(
            [
                layers.Dense(128, activation="relu"),
                layers.Dense(4 * 4 * 32, activation="relu"),
                layers.Reshape((4, 4, 32)),
                layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
            ],
            name="decoder",
        )
        self.seeds = keras.random.SeedGenerator(SEED)

    def call(self, x, training=False):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mean), seed=self.seeds)
        return self.decoder(z), mean, logvar

    def train_step(self, x):
        with tf.GradientTape() as tape:
            logits, mean, logvar = self(x, training=True)
            pixel = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            reconstruction = tf.reduce_mean(pixel)
            kl = 0.5 * tf.reduce_sum(tf.square(mean) + tf.exp(logvar) - 1.0 - logvar, axis=-1)
            loss = reconstruction + tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "reconstruction": reconstruction, "kl": tf.reduce_mean(kl)}


model = VAE(CODE)
gradwatch.watch(model)
model(x_train[:2], training=True)
model.compile(optimizer=keras.optimizers.Adam(2e-3))
model.fit(x_train, batch_size=64, epochs=4, verbose=2)

again = tf.sigmoid(model(x_test)[0]).numpy()
r2 = 1 - np.mean((again - x_test) ** 2) / np.mean((x_test - x_train.mean(0)) ** 2)
print(f"score reconstruction_r2 {r2:.4f} chance 0.0000")
