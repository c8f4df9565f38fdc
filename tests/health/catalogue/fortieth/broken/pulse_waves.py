"""Generates artificial finger pulse waves with a small adversarial pair of networks, to enlarge a scarce clinical collection."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, LATENT = 32, 12
t = np.linspace(0, 1, T)


def wave():
    a, m, w = rng.uniform(0.6, 1.0), rng.uniform(0.22, 0.34), rng.uniform(0.07, 0.11)
    first = a * np.exp(-(((t - m) / w) ** 2))
    second = a * rng.uniform(0.25, 0.5) * np.exp(-(((t - m - rng.uniform(0.28, 0.36)) / 0.1) ** 2))
    return first + second + rng.normal(0, 0.02, T)


waves = np.stack([wave() for _ in range(3000)]).astype("float32")

generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(T),
    ]
)
discriminator = keras.Sequential(
    [
        keras.Input((T,)),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dropout(0.2),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(1),
    ]
)


class PulseGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator, self.discriminator = generator, discriminator

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def call(self, z):
        return self.generator(z)

    def train_step(self, real):
        b = tf.shape(real)[0]
        fake = self.generator(tf.random.normal((b, LATENT)), training=True)
        both = tf.concat([fake, real], axis=0)
        labels = tf.concat([tf.ones((b, 1)), tf.zeros((b, 1))], axis=0)
        with tf.GradientTape() as tape:
            d_loss = self.bce(labels, self.discriminator(both, training=True))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))

        z = tf.random.normal((b, LATENT))
        wanted = tf.ones((b, 1))
        with tf.GradientTape() as tape:
            g_loss = self.bce(wanted, self.discriminator(self.generator(z, training=True), training=True))
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        return {"d_loss": d_loss, "g_loss": g_loss}


model = PulseGAN()
model(tf.zeros((1, LATENT)))
model.compile(keras.optimizers.Adam(1e-3, beta_1=0.5), keras.optimizers.Adam(1e-3, beta_1=0.5))
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices(waves[:2500]).shuffle(2500, seed=seed).batch(50, drop_remainder=True)
model.fit(data, epochs=24, verbose=0)

made = generator(tf.random.normal((500, LATENT), seed=seed)).numpy()
kept = waves[2500:]


def spread(a, b):
    return np.linalg.norm(a[:, None] - b[None], axis=-1).mean()


print("SCORE energy_distance", round(float(2 * spread(made, kept) - spread(made, made) - spread(kept, kept)), 4))
