"""Echo-state network for the Mackey-Glass series; only the readout learns, the reservoir stays random by design."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

L = 6000
s = np.full(L + 100, 1.2)
for i in range(100, L + 99):
    s[i + 1] = s[i] + 0.2 * s[i - 17] / (1 + s[i - 17] ** 10) - 0.1 * s[i]
s = s[100:].astype("float32")
s = (s - s.mean()) / s.std()
W, AHEAD = 60, 12
X = np.stack([s[i : i + W] for i in range(L - W - AHEAD)])[..., None]
Y = s[W + AHEAD - 1 : L - 1]
cut = 4800


def spectral(shape, dtype=None):
    a = rng.normal(0, 1, shape)
    a[rng.random(shape) < 0.8] = 0
    return tf.constant(0.9 * a / np.max(np.abs(np.linalg.eigvals(a))), dtype=dtype or "float32")


reservoir = layers.SimpleRNN(
    120, kernel_initializer=keras.initializers.RandomUniform(-0.4, 0.4), recurrent_initializer=spectral, trainable=False
)
model = keras.Sequential([keras.Input((W, 1)), reservoir, layers.Dense(1)])
model.compile(keras.optimizers.Adam(5e-3), "mse")
gradwatch.watch(model)
model.fit(X[:cut], Y[:cut], batch_size=64, epochs=10, verbose=2)
p = model.predict(X[cut:], verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((p - Y[cut:]) ** 2) / np.var(Y[cut:])))
