"""Train a Wasserstein GAN with gradient penalty on points scattered around eight antennas."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
NOISE = 6


def points(n):
    k = rng.integers(0, 8, n) * np.pi / 4
    p = np.stack([np.cos(k), np.sin(k)], -1) * 1.5 + rng.normal(0, 0.08, (n, 2))
    return p.astype("float32")


def net(size, out, name):
    return keras.Sequential(
        [
            keras.Input((size,)),
            layers.Dense(128, activation="relu", name=name + "1"),
            layers.Dense(128, activation="relu", name=name + "2"),
            layers.Dense(128, activation="relu", name=name + "3"),
            layers.Dense(out, name=name + "_out"),
        ],
        name=name,
    )


class WGAN(keras.Model):
    def __init__(self, rounds=4, weight=1.0):
        super().__init__(name="wgan")
        self.generator = net(NOISE, 2, "gen")
        self.critic = net(2, 1, "critic")
        self.rounds, self.weight = rounds, weight

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt
        self.g_opt.build(self.generator.trainable_variables)
        self.d_opt.build(self.critic.trainable_variables)

    def call(self, z):
        return self.critic(self.generator(z))

    def penalty(self, real, fake):
        t = tf.random.uniform((tf.shape(real)[0], 1))
        mixed = t * real + (1.0 - t) * fake
        with tf.GradientTape() as tape:
            tape.watch(mixed)
            score = self.critic(mixed, training=True)
        slope = tape.gradient(score, mixed)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slope), -1) + 1e-8)
        return tf.reduce_mean(tf.square(norm - 1.0))

    def train_step(self, real):
        n = tf.shape(real)[0]
        for _ in range(self.rounds):
            fake = self.generator(tf.random.normal((n, NOISE)), training=True)
            with tf.GradientTape() as tape:
                gap = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(
                    self.critic(real, training=True)
                )
                gp = self.penalty(real, fake)
                d_loss = gap + self.weight * gp
            grads = tape.gradient(d_loss, self.critic.trainable_variables)
            self.d_opt.apply(grads, self.critic.trainable_variables)
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(
                self.critic(self.generator(tf.random.normal((n, NOISE)), training=True), training=True)
            )
        grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_opt.apply(grads, self.generator.trainable_variables)
        return {"d_loss": d_loss, "g_loss": g_loss, "gp": gp}


def distance(n=4000):
    real = points(n)
    fake = model.generator.predict(rng.normal(size=(n, NOISE)).astype("float32"), batch_size=1000, verbose=0)
    out = []
    for a in np.linspace(0, np.pi, 16, endpoint=False):
        d = np.array([np.cos(a), np.sin(a)])
        out.append(np.mean(np.abs(np.sort(real @ d) - np.sort(fake @ d))))
    return float(np.mean(out))


model = WGAN()
gradwatch.watch(model)
model(np.zeros((1, NOISE), "float32"))
model.compile(
    keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9),
    keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9),
)
print("distance before %.4f" % distance())
model.fit(points(512 * 100), batch_size=512, epochs=3, verbose=2)
print("distance after %.4f" % distance())
