"""Compress snapshots of a vibrating string into a few latent coordinates with a variational autoencoder."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
POINTS, LATENT = 64, 6
grid = np.linspace(0, 1, POINTS)


def snapshots(n):
    amps = rng.normal(size=(n, 5)) * np.array([1.0, 0.9, 0.8, 0.6, 0.5])
    modes = np.stack([np.sin((k + 1) * np.pi * grid) for k in range(5)])
    u = amps @ modes
    u = u + 0.15 * u**2 + rng.normal(0, 0.08, (n, POINTS))
    return u.astype("float32")


class StringVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = layers.Dense(96, activation="elu")
        self.mean = layers.Dense(LATENT)
        self.log_var = layers.Dense(LATENT)
        self.decoder = keras.Sequential(
            [layers.Dense(96, activation="elu"), layers.Dense(96, activation="elu"), layers.Dense(POINTS)]
        )
        self.total = keras.metrics.Mean(name="loss")
        self.misfit = keras.metrics.Mean(name="misfit")

    @property
    def metrics(self):
        return [self.total, self.misfit]

    def encode(self, u):
        h = self.body(u)
        return self.mean(h), self.log_var(h)

    def call(self, u):
        m, _ = self.encode(u)
        return self.decoder(m)

    def train_step(self, u):
        with tf.GradientTape() as tape:
            m, lv = self.encode(u)
            z = m + tf.exp(0.5 * lv) * tf.random.normal(tf.shape(m))
            misfit = tf.reduce_mean(tf.square(u - self.decoder(z)))
            kl = tf.reduce_mean(tf.reduce_sum(0.5 * (tf.square(m) + tf.exp(lv) - 1.0 - lv), axis=-1))
            loss = misfit + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        self.misfit.update_state(misfit)
        return {"loss": self.total.result(), "misfit": self.misfit.result()}


train = snapshots(16000)
test = snapshots(3000)
center = train.mean(0)
spread = train.std()
train, test = (train - center) / spread, (test - center) / spread

vae = StringVAE()
vae(train[:4])
vae.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(vae)
h = vae.fit(train, batch_size=128, epochs=60, verbose=2)

back = vae.predict(test, batch_size=1000, verbose=0)
r2 = 1 - np.mean((back - test) ** 2) / np.mean(test**2)
print(f"loss {h.history['loss'][-1]:.4f}  held-out explained variance {r2:.4f}")
