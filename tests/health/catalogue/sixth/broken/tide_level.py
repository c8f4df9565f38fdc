"""Forecast the tide level (metres above datum) with a quantile GRU."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

t = np.arange(3000)
level = 2.0 * np.sin(2 * np.pi * t / 12.4) + 1.1 * np.sin(2 * np.pi * t / 25.8) + rng.normal(0, 0.15, t.size)
W = 20
x = np.stack([level[i : i + W] for i in range(t.size - W - 1)])[..., None].astype("float32")
y = level[W + 1 :][:, None].astype("float32")
taus = np.array([0.1, 0.5, 0.9], "float32")


def pinball(y_true, y_pred):
    e = y_true - y_pred
    return ops.mean(ops.maximum(taus * e, (taus - 1.0) * e), axis=-1)


model = keras.Sequential(
    [
        layers.Input((W, 1)),
        layers.GRU(16),
        layers.Dense(16, activation="relu"),
        layers.Dense(3, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=pinball)
gradwatch.watch(model)
model.fit(x[:2560], y[:2560], batch_size=64, epochs=8, verbose=2, validation_data=(x[2560:], y[2560:]))
q = model.predict(x[2560:], verbose=0)
print("coverage", np.mean((y[2560:, 0] > q[:, 0]) & (y[2560:, 0] < q[:, 2])))
