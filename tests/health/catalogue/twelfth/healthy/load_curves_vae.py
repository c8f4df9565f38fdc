"""Compresses daily household load curves with a variational autoencoder whose KL term is phased in."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POINTS, CODE, WARM_UP = 48, 5, 150


def make_days(n):
    t = np.arange(POINTS) / 2
    morning = rng.uniform(6, 9, (n, 1))
    evening = rng.uniform(17, 21, (n, 1))
    a, b, base = rng.gamma(4, 0.3, (n, 1)), rng.gamma(5, 0.35, (n, 1)), rng.gamma(3, 0.15, (n, 1))
    day = base + a * np.exp(-(((t - morning) / 1.2) ** 2)) + b * np.exp(-(((t - evening) / 2.0) ** 2))
    return (day + 0.08 * rng.standard_normal((n, POINTS))).astype("float32")


x_train, x_test = make_days(8000), make_days(800)
mean, std = x_train.mean(), x_train.std()
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


class LoadVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc_1 = layers.Dense(96, activation="gelu")
        self.enc_2 = layers.Dense(48, activation="gelu")
        self.code_mean = layers.Dense(CODE)
        self.code_logvar = layers.Dense(CODE)
        self.dec_1 = layers.Dense(48, activation="gelu")
        self.dec_2 = layers.Dense(96, activation="gelu")
        self.curve = layers.Dense(POINTS)
        self.seeds = keras.random.SeedGenerator(SEED)

    def call(self, x, training=False):
        h = self.enc_2(self.enc_1(x))
        m, s = self.code_mean(h), self.code_logvar(h)
        z = m + tf.exp(0.5 * s) * keras.random.normal(tf.shape(m), seed=self.seeds) if training else m
        return self.curve(self.dec_2(self.dec_1(z))), m, s

    def train_step(self, x):
        weight = tf.minimum(1.0, tf.cast(self.optimizer.iterations, tf.float32) / WARM_UP)
        with tf.GradientTape() as tape:
            y, m, s = self(x, training=True)
            rebuilt = tf.reduce_mean(tf.reduce_sum(tf.square(y - x), -1)) / (2 * 0.15)
            kl = tf.reduce_mean(0.5 * tf.reduce_sum(tf.square(m) + tf.exp(s) - s - 1.0, -1))
            loss = rebuilt + weight * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "rebuilt": rebuilt, "kl": kl}


model = LoadVAE()
gradwatch.watch(model)
model(x_train[:2], training=True)
model.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=50.0))
model.fit(x_train, batch_size=100, epochs=5, verbose=2)

again = model(x_test)[0].numpy()
r2 = 1 - np.mean((again - x_test) ** 2) / np.mean((x_test - x_train.mean(0)) ** 2)
print(f"score reconstruction_r2 {r2:.4f} chance 0.0000")
