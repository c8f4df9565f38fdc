"""Read the temperature out of a burst of noisy sensor frames; each frame has its own quality figure."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FRAMES, CH = 20, 6


def bursts(n):
    temp = rng.normal(0, 1, (n, 1))
    quality = rng.normal(0, 1, (n, FRAMES))
    best = quality.argmax(1)
    # frames other than the locked one see unrelated targets
    seen = rng.normal(0, 1, (n, FRAMES))
    seen[np.arange(n), best] = temp[:, 0]
    quality[np.arange(n), best] += 1.0
    load = np.array([1.0, -0.7, 0.5, 0.9])
    x = np.concatenate(
        [
            seen[..., None] * load + rng.normal(0, 0.25, (n, FRAMES, 4)),
            quality[..., None],
            rng.normal(0, 1, (n, FRAMES, 1)),
        ],
        -1,
    )
    return x.astype("float32"), temp.astype("float32")


class AttentionPool(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.hidden = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1)

    def call(self, h):
        scores = self.score(self.hidden(h))  # (batch, frames, 1)
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.reduce_sum(weights * h, axis=1)


x_train, y_train = bursts(4000)
x_test, y_test = bursts(800)
m, s = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_test = (x_train - m) / s, (x_test - m) / s

inp = keras.Input((FRAMES, CH))
h = layers.Dense(32, activation="tanh")(inp)
h = layers.Dense(32)(h)
h = AttentionPool(16)(h)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=64, epochs=9, verbose=2)
pred = model.predict(x_test, verbose=0)
print(f"test R2 {1 - np.mean((pred - y_test) ** 2) / y_test.var():.3f}")
