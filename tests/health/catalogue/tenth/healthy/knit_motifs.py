"""Variational autoencoder of knitting motifs (16 x 16 stitch charts); the weight of the KL term is raised little by
little."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE, LATENT, N, RAMP = 16, 6, 4096, 180


def make_charts():
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2 + 0.5
    cx, cy = rng.uniform(-3, 3, (2, N, 1, 1))
    size = rng.uniform(2, 6, (N, 1, 1))
    sharp = rng.uniform(0.6, 2.2, (N, 1, 1))
    d = (np.abs(xx - cx) ** sharp + np.abs(yy - cy) ** sharp) ** (1 / sharp)
    chart = (d < size) ^ (d < size * 0.45)
    return chart.reshape(N, -1).astype("float32")


class KnitVAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential(
            [
                tf.keras.Input((SIDE * SIDE,)),
                tf.keras.layers.Dense(384, activation="relu"),
                tf.keras.layers.Dense(2 * LATENT),
            ],
            name="encoder",
        )
        self.decoder = tf.keras.Sequential(
            [
                tf.keras.Input((LATENT,)),
                tf.keras.layers.Dense(384, activation="relu"),
                tf.keras.layers.Dense(SIDE * SIDE),
            ],
            name="decoder",
        )
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False, name="seen")

    def call(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar

    def train_step(self, x):
        beta = tf.minimum(self.seen / RAMP, 1.0)
        with tf.GradientTape() as tape:
            logits, mean, logvar = self(x, training=True)
            recon = tf.reduce_mean(tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), -1))
            kl = tf.reduce_mean(0.5 * tf.reduce_sum(tf.square(mean) + tf.exp(logvar) - 1.0 - logvar, -1))
            loss = recon + beta * kl
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.seen.assign_add(1.0)
        return {"loss": loss, "recon": recon, "kl": kl, "beta": beta}


model = KnitVAE()
gradwatch.watch(model)
model(tf.zeros((1, SIDE * SIDE)))
model.compile(optimizer=tf.keras.optimizers.Adam(1.5e-3), jit_compile=False)
charts = tf.data.Dataset.from_tensor_slices(make_charts()).shuffle(N, seed=SEED).batch(128, drop_remainder=True)
model.fit(charts, epochs=10, verbose=2)
