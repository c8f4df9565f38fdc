"""GAN which generates daily electricity load curves of households."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


T, NOISE = 24, 16
hours = np.arange(T)


def make(n):
    morning, evening = rng.normal(7.5, 0.8, (n, 1)), rng.normal(19, 1.2, (n, 1))
    a, b = rng.gamma(6, 0.15, (n, 1)), rng.gamma(8, 0.18, (n, 1))
    c = 0.4 + 0.15 * rng.normal(size=(n, 1)) + a * np.exp(-0.5 * ((hours - morning) / 1.5) ** 2)
    c = c + b * np.exp(-0.5 * ((hours - evening) / 2.2) ** 2)
    return (c - 0.8).astype("float32") + 0.05 * rng.normal(size=(n, T)).astype("float32")


x_train, x_test = make(6000), make(2000)


class GAN(keras.Model):
    def __init__(self, generator, discriminator, **kw):
        super().__init__(**kw)
        self.generator = generator
        self.discriminator = discriminator

    def call(self, z):
        return self.discriminator(self.generator(z))

    def compile(self, g_optimizer, d_optimizer):
        super().compile()
        self.g_optimizer, self.d_optimizer = g_optimizer, d_optimizer
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        n = tf.shape(real)[0]
        z = tf.random.normal((n, NOISE))
        fake = self.generator(z, training=True)
        with tf.GradientTape() as tape:
            dr = self.discriminator(real, training=True)
            df = self.discriminator(fake, training=True)
            d_loss = self.bce(tf.ones_like(dr) * 0.9, dr) + self.bce(tf.zeros_like(df), df)
        v = self.discriminator.trainable_variables
        self.d_optimizer.apply_gradients(zip(tape.gradient(d_loss, v), v))
        z = tf.random.normal((n, NOISE))
        with tf.GradientTape() as tape:
            df = self.discriminator(self.generator(z, training=True), training=True)
            g_loss = self.bce(tf.ones_like(df), df)
        v = self.generator.trainable_variables
        self.g_optimizer.apply_gradients(zip(tape.gradient(g_loss, v), v))
        return {"d_loss": d_loss, "g_loss": g_loss}


generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(96),
        layers.BatchNormalization(),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(96),
        layers.BatchNormalization(),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(T),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((T,)),
        layers.Dense(96),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dropout(0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dropout(0.2),
        layers.Dense(1),
    ],
    name="discriminator",
)
gan = GAN(generator, discriminator)
gan(np.zeros((2, NOISE), "float32"))
gan.compile(keras.optimizers.Adam(5e-4, beta_1=0.5), keras.optimizers.Adam(5e-4, beta_1=0.5))
gradwatch.watch(gan)


def frechet(a, b):
    ca, cb = np.cov(a.T), np.cov(b.T)
    ev = np.linalg.eigvals(ca @ cb)
    return (
        ((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(ca) + np.trace(cb) - 2 * np.sqrt(np.maximum(ev.real, 0)).sum()
    )


noise = rng.normal(size=(2000, NOISE)).astype("float32")
print("before", round(float(frechet(generator.predict(noise, verbose=0), x_test)), 4))
gan.fit(x_train, batch_size=64, epochs=14, verbose=2)
print("SCORE frechet_distance", round(float(frechet(generator.predict(noise, verbose=0), x_test)), 4))
