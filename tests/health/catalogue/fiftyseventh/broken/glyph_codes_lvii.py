import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

glyphs = (load_digits().data / 16.0).astype("float32")
glyphs = glyphs[rng.permutation(len(glyphs))]
train, test = glyphs[:1400], glyphs[1400:]
LATENT = 8


class GlyphVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.Input((64,)),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                keras.Input((LATENT,)),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(64, activation="sigmoid"),
            ]
        )
        self.seed_gen = keras.random.SeedGenerator(SEED)
        self.total = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.total]

    def call(self, x):
        mean, _ = tf.split(self.encoder(x), 2, axis=-1)
        return self.decoder(mean)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, logvar = tf.split(self.encoder(x, training=True), 2, axis=-1)
            z = mean + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mean), seed=self.seed_gen)
            recon = self.decoder(z, training=True)
            rec_loss = tf.reduce_mean(keras.losses.binary_crossentropy(x, recon))
            kl = -0.5 * tf.reduce_sum(1.0 + logvar - tf.square(mean) - tf.exp(logvar), axis=-1)
            loss = rec_loss + tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        return {"loss": self.total.result()}


vae = GlyphVAE()
vae.compile(optimizer=keras.optimizers.Adam(1e-3))
vae(train[:2])
watch = gradwatch.watch(vae)
vae.fit(train, batch_size=32, epochs=40, verbose=2)

out = vae(test).numpy()
print("SCORE", float(1.0 - np.mean((out - test) ** 2) / np.mean((test - train.mean(0)) ** 2)))
