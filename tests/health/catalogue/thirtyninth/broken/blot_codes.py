"""Variational autoencoder that compresses 16x16 gel-blot images to eight latent numbers."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def blots(n):
    g = np.arange(16)
    img = np.zeros((n, 16, 16))
    for _ in range(2):
        cy, cx = rng.uniform(2, 13, (2, n, 1, 1))
        w = rng.uniform(1.2, 3.0, (n, 1, 1))
        img += np.exp(-((g[None, :, None] - cy) ** 2 / 3 + (g[None, None] - cx) ** 2 / w**2))
    return np.clip(img, 0, 1).astype("float32")[..., None]


train, test = blots(4000), blots(600)
LATENT = 8


class BlotVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(4 * 4 * 32, activation="relu"),
                layers.Reshape((4, 4, 32)),
                layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
            ]
        )

    def call(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar

    def train_step(self, x):
        with tf.GradientTape() as tape:
            logits, mean, logvar = self(x, training=True)
            bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            recon = tf.reduce_mean(bce)
            kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1)
            loss = recon + tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "recon": recon, "kl": tf.reduce_mean(kl)}


model = BlotVAE()
model(train[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(model)
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=seed).batch(64)
model.fit(ds, epochs=10, shuffle=False, verbose=2)

mean = model.encoder.predict(test, verbose=0)[:, :LATENT]
recon = 1 / (1 + np.exp(-model.decoder.predict(mean, verbose=0)))
print("SCORE explained_variance %.4f" % (1 - ((recon - test) ** 2).mean() / ((train.mean(0) - test) ** 2).mean()))
