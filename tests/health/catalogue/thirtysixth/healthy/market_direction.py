"""Guess whether a stock closes higher tomorrow from a few noisy technical indicators."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, F = 12000, 12
x = rng.standard_t(5, (N, F)).clip(-5, 5)
edge = 0.22 * x[:, 0] - 0.16 * x[:, 3] + 0.15 * np.tanh(x[:, 5] * x[:, 6])
up = rng.random(N) < 1 / (1 + np.exp(-edge))
x, up = x.astype("float32"), up.astype("float32")
x_train, y_train, x_test, y_test = x[:8000], up[:8000], x[8000:], up[8000:]

model = keras.Sequential(
    [
        layers.Input((F,)),
        layers.Dense(24, activation="relu", kernel_regularizer=keras.regularizers.L2(2e-4)),
        layers.Dropout(0.3),
        layers.Dense(12, activation="relu", kernel_regularizer=keras.regularizers.L2(2e-4)),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, epochs=12, batch_size=64, validation_split=0.1, verbose=2)

prob = model.predict(x_test, verbose=0)[:, 0]
order = prob.argsort().argsort() + 1
pos = y_test > 0.5
auc = (order[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE auc", round(float(auc), 4))
