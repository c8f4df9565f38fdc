"""Forecasts river levels six hours ahead as three quantiles with a dilated causal convnet."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PAST, AHEAD = 48, 6
QUANTILES = (0.1, 0.5, 0.9)

T = 6000
rain = rng.random(T) < 0.03
store, level = 0.0, np.empty(T)
for t in range(T):
    store = 0.93 * store + rain[t] * rng.gamma(2.0, 1.0)
    level[t] = 2.0 + 0.4 * store + 0.5 * np.sin(2 * np.pi * t / 24.8) + 0.8 * np.sin(2 * np.pi * t / 700)
level += 0.05 * rng.standard_normal(T)
cut = 5000
series = ((level - level[:cut].mean()) / level[:cut].std()).astype("float32")


def windows(lo, hi):
    at = np.arange(lo + PAST, hi - AHEAD)
    return np.stack([series[t - PAST : t] for t in at])[..., None], np.stack([series[t : t + AHEAD] for t in at])


x_train, y_train = windows(0, cut)
x_test, y_test = windows(cut, T)


def pinball(y_true, y_pred):
    e = ops.expand_dims(y_true, -1) - y_pred
    q = ops.convert_to_tensor(QUANTILES, dtype="float32")
    return ops.mean(ops.maximum(q * e, (q - 1) * e), axis=(-1, -2))


inputs = keras.Input((PAST, 1), name="past")
h = inputs
for i, dilation in enumerate((1, 2, 4, 8, 16)):
    c = layers.Conv1D(24, 3, padding="causal", dilation_rate=dilation, activation="relu", name=f"tcn_{i}")(h)
    h = c if i == 0 else layers.Add()([h, c])
h = layers.Lambda(lambda s: s[:, -1], output_shape=(24,), name="last")(h)
h = layers.Dense(48, activation="relu", name="mix")(h)
h = layers.Dense(AHEAD * len(QUANTILES), activation="sigmoid", name="quantiles")(h)
model = keras.Model(inputs, layers.Reshape((AHEAD, len(QUANTILES)))(h))
gradwatch.watch(model)

model.compile(keras.optimizers.RMSprop(1e-3), loss=pinball)
model.fit(x_train, y_train, batch_size=96, epochs=6, verbose=2)

fixed = np.quantile(y_train, QUANTILES).astype("float32")
naive = float(np.mean(pinball(y_test, np.broadcast_to(fixed, y_test.shape + (3,)))))
loss = float(np.mean(pinball(y_test, model.predict(x_test, verbose=0))))
print(f"score pinball_skill {1 - loss / naive:.4f} chance 0.0000")
