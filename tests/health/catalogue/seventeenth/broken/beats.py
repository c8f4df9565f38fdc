# Generator of heart beats (64 samples per beat), adversarial training.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(17)
N, LATENT = 64, 8


def beats(count, rng):
    t = np.linspace(0, 1, N)[None]
    g = lambda c, w, a: a[:, None] * np.exp(-0.5 * ((t - c[:, None]) / w[:, None]) ** 2)
    u = lambda lo, hi: rng.uniform(lo, hi, count)
    x = g(u(0.18, 0.22), u(0.02, 0.035), u(0.08, 0.2)) + g(u(0.38, 0.41), u(0.012, 0.02), u(0.9, 1.4))
    x -= g(u(0.43, 0.45), u(0.012, 0.02), u(0.15, 0.35)) - g(u(0.62, 0.7), u(0.04, 0.06), u(0.15, 0.4))
    return (x + 0.01 * rng.standard_normal(x.shape)).astype("float32")


rng = np.random.default_rng(17)
raw, raw_test = beats(4096, rng), beats(1500, rng)
mu, sd = raw.mean(), raw.std()
real, real_test = (raw - mu) / sd, (raw_test - mu) / sd


class BeatGame(keras.Model):
    def __init__(self):
        super().__init__()
        self.gen = keras.Sequential(
            [
                keras.Input((LATENT,)),
                layers.Dense(96),
                layers.LeakyReLU(0.2),
                layers.Dense(128),
                layers.LeakyReLU(0.2),
                layers.Dense(N, activation="tanh"),
            ]
        )
        self.dis = keras.Sequential(
            [
                keras.Input((N,)),
                layers.Dense(96),
                layers.LeakyReLU(0.2),
                layers.Dense(48),
                layers.LeakyReLU(0.2),
                layers.Dense(1),
            ]
        )
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt

    def call(self, z):
        return self.gen(z)

    def train_step(self, x):
        n = tf.shape(x)[0]
        z = tf.random.normal((n, LATENT))
        with tf.GradientTape() as tape:
            a, b = self.dis(x), self.dis(self.gen(z))
            d_loss = self.bce(tf.ones_like(a), a) + self.bce(tf.zeros_like(b), b)
        dv = self.dis.trainable_variables
        self.d_opt.apply_gradients(zip(tape.gradient(d_loss, dv), dv))
        z = tf.random.normal((n, LATENT))
        with tf.GradientTape() as tape:
            b = self.dis(self.gen(z))
            g_loss = self.bce(tf.ones_like(b), b)
        gv = self.gen.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(g_loss, gv), gv))
        return {"d_loss": d_loss, "g_loss": g_loss}


model = BeatGame()
model(tf.zeros((1, LATENT)))
model.compile(keras.optimizers.Adam(4e-4, beta_1=0.5), keras.optimizers.Adam(4e-4, beta_1=0.5))
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices(real).shuffle(4096, seed=17).batch(64, drop_remainder=True)
hist = model.fit(data, epochs=70, verbose=2)

fake = model.gen(tf.random.normal((1500, LATENT), seed=1)).numpy()
q = [5, 25, 50, 75, 95]
gap = np.mean(np.abs(np.percentile(fake, q, axis=0) - np.percentile(real_test, q, axis=0)))
print(
    f"final d_loss {hist.history['d_loss'][-1]:.3f} g_loss {hist.history['g_loss'][-1]:.3f}"
    f"  held-out quantile gap {gap:.3f} (mean beat alone {np.mean(np.abs(real_test.mean(0) - np.percentile(real_test, q, axis=0))):.3f})"
)
