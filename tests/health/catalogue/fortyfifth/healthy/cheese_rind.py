"""Fits a mixture density network of cheese moisture loss over ripening time, with warm restarts."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 23)
PARTS = 4


class FourierFeatures(keras.layers.Layer):
    def build(self, shape):
        self.freq = self.add_weight(
            shape=(shape[-1], 24),
            trainable=False,
            name="freq",
            initializer=keras.initializers.RandomNormal(stddev=1.0, seed=SEED),
        )

    def call(self, x):
        angle = tf.matmul(x, self.freq)
        return tf.concat([x, tf.sin(angle), tf.cos(angle)], axis=-1)


def cellar(n):
    x = rng.uniform(-1, 1, (n, 3))
    washed = rng.random(n) < 0.4
    loss = np.where(washed, 0.25 + 0.08 * np.sin(3 * x[:, 0]), 0.40 + 0.10 * x[:, 1] * x[:, 2])
    return x.astype("float32"), (loss + 0.004 * rng.normal(size=n)).astype("float32")[:, None]


def mixture_nll(y, params):
    logits, mean, log_sd = tf.split(params, 3, axis=-1)
    log_sd = tf.maximum(log_sd, -7.0)
    z = (y - mean) * tf.exp(-log_sd)
    parts = tf.nn.log_softmax(logits) - log_sd - 0.5 * tf.square(z) - 0.9189
    return -tf.reduce_mean(tf.reduce_logsumexp(parts, axis=-1))


x, y = cellar(14000)
cut = 12000
start = np.concatenate([np.zeros(PARTS), np.linspace(0.2, 0.5, PARTS), np.full(PARTS, -2.0)])
model = keras.Sequential(
    [
        keras.Input((3,)),
        FourierFeatures(),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dropout(0.05),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(
            3 * PARTS,
            kernel_initializer=keras.initializers.RandomNormal(stddev=0.01),
            bias_initializer=lambda shape, dtype=None: tf.constant(start, tf.float32),
        ),
    ]
)
steps = cut // 100
rate = keras.optimizers.schedules.CosineDecayRestarts(4e-3, 2 * steps, t_mul=2.0, m_mul=1.0, alpha=0.01)
model.compile(keras.optimizers.Adam(rate, clipnorm=1.0), loss=mixture_nll)
gradwatch.watch(model)
model.fit(x[:cut], y[:cut], validation_data=(x[cut:], y[cut:]), batch_size=100, epochs=30, verbose=2)

broad = float(np.log(y[:cut].std()) + 1.4189)
nll = float(model.evaluate(x[cut:], y[cut:], verbose=0))
print("nll of one plain gaussian", round(broad, 4))
print("SCORE nll", round(nll, 4))
