"""Distance modulus of stars from colours and a low-resolution spectrum, with error bars."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(33)
rng = np.random.default_rng(33)


def stars(n):
    teff, logg, ext = rng.normal(size=n), rng.normal(size=n), rng.exponential(0.5, n)
    lam = np.linspace(-1, 1, 48)[None]
    spec = (
        np.tanh(teff[:, None] * lam)
        + 0.4 * logg[:, None] * np.exp(-(((lam - 0.3) / 0.08) ** 2))
        - ext[:, None] * (0.3 - 0.3 * lam)
    )
    spec += 0.01 * rng.normal(size=spec.shape)
    mod = 0.3 * teff + 0.25 * np.sin(2 * logg) + 0.2 * ext * teff
    mod += np.where(teff > 1, 0.08, 0.006) * rng.normal(size=n)
    return spec.astype("float32"), mod.astype("float32")[:, None]


class DistanceNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = [layers.Dense(64, activation="silu"), layers.Dense(64, activation="silu")]
        self.mu = layers.Dense(1)
        self.log_sigma = layers.Dense(1, kernel_initializer="zeros")

    def call(self, x):
        for layer in self.body:
            x = layer(x)
        return tf.concat([self.mu(x), tf.maximum(self.log_sigma(x), -5.5)], axis=-1)


def nll(y, out):
    mu, ls = out[:, :1], out[:, 1:]
    return tf.reduce_mean(0.5 * tf.square((y - mu) * tf.exp(-ls)) + ls)


x, y = stars(9000)
xt, yt = stars(1500)
net = DistanceNet()
net.build((None, 48))
total = 22 * (9000 // 60)
lr = keras.optimizers.schedules.CosineDecay(1e-6, total - 200, alpha=0.02, warmup_target=2e-3, warmup_steps=200)
net.compile(optimizer=keras.optimizers.AdamW(lr, weight_decay=1e-4, global_clipnorm=0.5), loss=nll)
gradwatch.watch(net)
h = net.fit(x, y, batch_size=60, epochs=22, verbose=0)
out = net.predict(xt, verbose=0)
z = (yt[:, 0] - out[:, 0]) / np.exp(out[:, 1])
r2 = 1 - np.mean((yt[:, 0] - out[:, 0]) ** 2) / yt.var()
print(
    "loss %.3f  held-out nll %.3f  R2 %.4f  rms of pulls %.2f"
    % (h.history["loss"][-1], np.mean(0.5 * z**2 + out[:, 1]), r2, np.sqrt(np.mean(z**2)))
)
