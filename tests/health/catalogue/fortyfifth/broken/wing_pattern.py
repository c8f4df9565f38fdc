"""Trains a variational autoencoder on small binary pictures of butterfly wing patterns."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
SIDE, LATENT = 16, 8


def wings(n, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    pics = np.zeros((n, SIDE, SIDE), "float32")
    for i in range(n):
        cx, cy = rng.uniform(0.3, 0.7, 2)
        radius = rng.uniform(0.12, 0.35)
        dist = np.hypot(xx - cx, yy - cy)
        pics[i] = dist < radius
        if rng.random() < 0.5:
            pics[i] -= dist < 0.5 * radius
        angle = rng.uniform(0, np.pi)
        band = np.abs((xx - 0.5) * np.cos(angle) + (yy - 0.5) * np.sin(angle) - 0.3) < 0.08
        pics[i] = np.maximum(pics[i], band)
    return pics.reshape(n, -1)


class WingVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.Input((SIDE * SIDE,)),
                layers.Dense(192, activation="relu"),
                layers.Dense(96, activation="relu"),
                layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                keras.Input((LATENT,)),
                layers.Dense(96, activation="relu"),
                layers.Dense(192, activation="relu"),
                layers.Dense(SIDE * SIDE),
            ]
        )
        self.noise = keras.random.SeedGenerator(SEED)

    def call(self, x, training=False):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mean), seed=self.noise)
        return self.decoder(z), mean, logvar

    def train_step(self, x):
        with tf.GradientTape() as tape:
            logits, mean, logvar = self(x, training=True)
            pixel = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            recon = tf.reduce_mean(pixel)
            kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1.0 + logvar - tf.square(mean) - tf.exp(logvar), axis=-1))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "recon": recon, "kl": kl}


pictures = wings(6000, np.random.default_rng(SEED + 70))
train, test = pictures[:5000], pictures[5000:]
model = WingVAE()
model(train[:2])
model.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(model)
model.fit(train, batch_size=64, epochs=22, verbose=2)

logits, _, _ = model(test)
wrong = np.mean((logits.numpy() > 0) != (test > 0.5))
baseline = np.mean((train.mean(0) > 0.5) != (test > 0.5))
print("pixel errors of the mean picture", round(float(baseline), 4))
print("SCORE pixel_error", round(float(wrong), 4))
