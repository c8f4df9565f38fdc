import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

N = 6000
rng = np.random.default_rng(SEED)
sky = rng.uniform(-1, 1, (N, 2)).astype("float32")
level = 0.03 * np.sin(5 * sky[:, 0]) * np.cos(4 * sky[:, 1])
scatter = 0.001 + 0.004 * (sky[:, 0] > 0)
flux = (level + scatter * rng.normal(size=N)).astype("float32")[:, None]
x_train, x_test, y_train, y_test = sky[:5000], sky[5000:], flux[:5000], flux[5000:]


class RandomFourier(layers.Layer):
    def __init__(self, count, spread, **kw):
        super().__init__(**kw)
        self.count, self.spread = count, spread

    def build(self, shape):
        self.freq = self.add_weight(
            shape=(shape[-1], self.count),
            trainable=False,
            name="freq",
            initializer=keras.initializers.RandomNormal(stddev=self.spread),
        )

    def call(self, x):
        phase = tf.matmul(x, self.freq)
        return tf.concat([tf.sin(phase), tf.cos(phase)], -1)


inp = keras.Input((2,))
h = RandomFourier(64, 3.0, name="fourier")(inp)
h = layers.Dense(64, activation="swish")(h)
mean = layers.Dense(1, kernel_initializer="zeros", name="mean")(h)
log_sigma = layers.Dense(
    1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(-3.0), name="log_sigma"
)(h)
model = keras.Model(inp, layers.Concatenate()([mean, log_sigma]))


def nll(y, p):
    sigma = tf.exp(p[:, 1:])
    return tf.reduce_mean(0.5 * tf.square((y - p[:, :1]) / sigma) + p[:, 1:])


schedule = keras.optimizers.schedules.CosineDecay(1e-5, 1200, alpha=0.01, warmup_target=2e-3, warmup_steps=200)
model.compile(optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0), loss=nll)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=100, epochs=28, verbose=2)

pred = model.predict(x_test, verbose=0)[:, :1]
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
