"""Generates woven fabric swatches with a small adversarial network for a design tool."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 16


def swatches(n):
    yy, xx = np.mgrid[0:N, 0:N]
    w = 2 * np.pi / rng.choice([4, 8], (n, 1, 1))
    p, q = rng.uniform(0, 2 * np.pi, (2, n, 1, 1))
    k = rng.uniform(0.5, 1.0, (n, 1, 1))
    img = k * 0.5 * (np.sin(w * xx + p) + np.sin(w * yy + q)) + rng.normal(0, 0.05, (n, N, N))
    return np.clip(img, -1, 1).astype("float32")[..., None]


real = swatches(6000)
Z = 24


class Weaver(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = keras.Sequential(
            [
                keras.Input((Z,)),
                layers.Dense(4 * 4 * 32),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Reshape((4, 4, 32)),
                layers.Conv2DTranspose(24, 4, strides=2, padding="same"),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="sigmoid"),
            ]
        )
        self.critic = keras.Sequential(
            [
                keras.Input((N, N, 1)),
                layers.Conv2D(24, 4, strides=2, padding="same"),
                layers.LeakyReLU(0.2),
                layers.Conv2D(48, 4, strides=2, padding="same"),
                layers.LeakyReLU(0.2),
                layers.Flatten(),
                layers.Dense(1),
            ]
        )
        self.g_opt = keras.optimizers.Adam(4e-4, beta_1=0.5)
        self.d_opt = keras.optimizers.Adam(4e-4, beta_1=0.5)

    def call(self, z):
        return self.critic(self.generator(z))

    def train_step(self, x):
        n = tf.shape(x)[0]
        bce = keras.losses.BinaryCrossentropy(from_logits=True)
        with tf.GradientTape(persistent=True) as tape:
            fake = self.generator(tf.random.normal((n, Z)), training=True)
            dr, df = self.critic(x, training=True), self.critic(fake, training=True)
            d_loss = bce(0.9 * tf.ones_like(dr), dr) + bce(tf.zeros_like(df), df)
            g_loss = bce(tf.ones_like(df), df)
        dv, gv = self.critic.trainable_variables, self.generator.trainable_variables
        self.d_opt.apply_gradients(zip(tape.gradient(d_loss, dv), dv))
        self.g_opt.apply_gradients(zip(tape.gradient(g_loss, gv), gv))
        return {"d_loss": d_loss, "g_loss": g_loss}


model = Weaver()
model(tf.zeros((1, Z)))
model.compile()
gradwatch.watch(model)
model.fit(
    tf.data.Dataset.from_tensor_slices(real).shuffle(6000, seed=seed).batch(64, drop_remainder=True),
    epochs=9,
    verbose=2,
)

fake = model.generator.predict(rng.normal(0, 1, (1000, Z)).astype("float32"), verbose=0)
held = swatches(1000)


def stats(a):
    spec = np.abs(np.fft.fft2(a[..., 0])) / N
    hist = np.histogram(a, bins=np.linspace(-1, 1, 21))[0] / a.size
    return spec.mean(0).ravel(), hist


(sf, hf), (sr, hr) = stats(fake), stats(held)
print("SCORE distance", float(np.abs(sf - sr).mean() / sr.mean() + np.abs(hf - hr).sum()))
