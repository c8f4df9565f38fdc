"""A small GAN that learns to draw 2-D detector hits lying on an off-centre ring."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

LATENT = 8
CENTRE = np.array([1.5, -1.0], "float32")
RADIUS = 1.2


def hits(n, seed):
    r = np.random.default_rng(seed)
    phi = r.uniform(0, 2 * np.pi, n)
    rad = RADIUS + r.normal(0, 0.08, n)
    return (CENTRE + np.stack([rad * np.cos(phi), rad * np.sin(phi)], 1)).astype("float32")


generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(256),
        layers.LeakyReLU(0.2),
        layers.Dense(256),
        layers.LeakyReLU(0.2),
        layers.Dense(2),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(256),
        layers.LeakyReLU(0.2),
        layers.Dense(256),
        layers.LeakyReLU(0.2),
        layers.Dense(1),
    ],
    name="discriminator",
)


class RingGAN(keras.Model):
    def __init__(self, g, d):
        super().__init__()
        self.g, self.d = g, d
        self.seed_gen = keras.random.SeedGenerator(SEED)
        self.g_metric = keras.metrics.Mean(name="g_loss")
        self.d_metric = keras.metrics.Mean(name="d_loss")

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @property
    def metrics(self):
        return [self.g_metric, self.d_metric]

    def call(self, z):
        return self.g(z)

    def train_step(self, real):
        n = tf.shape(real)[0]
        z = keras.random.normal((n, LATENT), seed=self.seed_gen)
        fake = self.g(z)
        with tf.GradientTape() as tape:
            both = self.d(tf.concat([fake, real], 0))
            labels = tf.concat([tf.zeros((n, 1)), tf.ones((n, 1))], 0)
            d_loss = self.bce(labels, both)
        grads = tape.gradient(d_loss, self.d.trainable_weights)
        self.d_opt.apply_gradients(zip(grads, self.d.trainable_weights))

        z = keras.random.normal((n, LATENT), seed=self.seed_gen)
        with tf.GradientTape() as tape:
            verdict = self.d(self.g(z))
            g_loss = self.bce(tf.zeros_like(verdict), verdict)
        grads = tape.gradient(g_loss, self.g.trainable_weights)
        self.g_opt.apply_gradients(zip(grads, self.g.trainable_weights))

        self.g_metric.update_state(g_loss)
        self.d_metric.update_state(d_loss)
        return {m.name: m.result() for m in self.metrics}


model = RingGAN(generator, discriminator)
gradwatch.watch(model)
model.build((None, LATENT))
model.compile(keras.optimizers.Adam(1e-3, beta_1=0.5), keras.optimizers.Adam(1e-3, beta_1=0.5))

points = hits(51200, SEED)
model.fit(points, batch_size=512, epochs=4, verbose=2)

sample = generator(np.random.default_rng(SEED + 1).normal(size=(2000, LATENT)).astype("float32")).numpy()
off = np.abs(np.linalg.norm(sample - CENTRE, axis=1) - RADIUS)
print("mean distance from ring %.3f, share within 0.3: %.3f" % (off.mean(), np.mean(off < 0.3)))
print("sample mean", sample.mean(0), "wanted", CENTRE)
