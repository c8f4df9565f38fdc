"""Trains a variational autoencoder of snail shell outlines."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

POINTS, LATENT = 64, 6


def outlines(n):
    a = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    growth, squash, lip, ribs = rng.normal(size=(4, n, 1))
    r = 1.0 + 0.25 * growth * np.cos(a) + 0.2 * squash * np.cos(2 * a)
    r = r + 0.3 * (1 + np.tanh(lip)) * np.exp(-((a - 1.2 - 0.2 * squash) ** 2) / 0.2)
    r = r + 0.12 * ribs * np.sin(6 * a)
    return r + 0.03 * rng.normal(size=r.shape)


raw = outlines(5500)
centre, spread = raw[:5000].mean(axis=0), raw[:5000].std(axis=0)
shells = ((raw - centre) / spread).astype("float32")
train, test = shells[:5000], shells[5000:]


class ShellVAE(keras.Model):
    def __init__(self):
        super().__init__(name="shell_vae")
        dense = keras.layers.Dense
        self.enc = keras.Sequential([dense(384, activation="relu"), dense(192, activation="relu")])
        self.mu = dense(LATENT)
        self.log_var = dense(LATENT)
        self.dec = keras.Sequential([dense(192, activation="relu"), dense(384, activation="relu"), dense(POINTS)])

    def call(self, x):
        h = self.enc(x)
        mu, log_var = self.mu(h), self.log_var(h)
        z = mu + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mu))
        return self.dec(z), mu, log_var


model = ShellVAE()
model(train[:2])
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        out, mu, log_var = model(x)
        recon = tf.reduce_sum(tf.square(x - out), axis=-1)
        kl = 0.5 * tf.reduce_sum(tf.square(mu) + tf.exp(log_var) - 1.0 - log_var, axis=-1)
        loss = tf.reduce_mean(recon + kl)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return tf.reduce_mean(recon), tf.reduce_mean(kl)


gradwatch.watch(model)

for epoch in range(34):
    order = rng.permutation(len(train))
    stats = [train_step(train[order[i : i + 64]]) for i in range(0, len(train), 64)]
    recon, kl = np.mean([[float(r), float(k)] for r, k in stats], axis=0)
    print(f"epoch {epoch + 1:2d} recon {recon:.4f} kl {kl:.3f}")

rebuilt = model(test)[0].numpy()
print("SCORE explained_variance", float(1.0 - np.mean((rebuilt - test) ** 2) / test.var()))
