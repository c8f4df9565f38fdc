"""Predicts the shrinkage of a ceramic piece from its firing curve and clay composition."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, STEPS, CLAY = 4000, 40, 6


def firings(n):
    peak = rng.uniform(0.5, 1.5, n)
    rise = rng.uniform(0.1, 0.5, n)
    hold = rng.uniform(0.1, 0.4, n)
    t = np.linspace(0, 1, STEPS)
    curve = (
        peak[:, None]
        * np.clip(t / rise[:, None], 0, 1)
        * np.where(t < (rise + hold)[:, None], 1, np.exp(-6 * (t - (rise + hold)[:, None])))
    )
    curve += rng.normal(0, 0.02, curve.shape)
    clay = rng.dirichlet(np.ones(CLAY), n)
    work = np.mean(np.clip(curve - 0.6, 0, None) ** 2, 1)
    y = 30 * work * (0.3 + clay[:, 0] + 2 * clay[:, 1] * clay[:, 2] * 4) - 4 * clay[:, 3] * peak + rng.normal(0, 0.1, n)
    return curve[..., None].astype("float32"), clay.astype("float32"), y.astype("float32")


c_tr, k_tr, y_tr = firings(N)
c_te, k_te, y_te = firings(1000)
mean, std = y_tr.mean(), y_tr.std()

curve = keras.Input((STEPS, 1))
clay = keras.Input((CLAY,))
h = layers.Conv1D(16, 5, activation="relu")(curve)
h = layers.AveragePooling1D(2)(h)
h = layers.Conv1D(24, 5, activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Concatenate()([h, clay])
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model([curve, clay], layers.Dense(1)(h))
model.compile(keras.optimizers.Adam(1.5e-3), "mse", metrics=["mae"])
gradwatch.watch(model)

slower = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", mode="max", factor=0.2, patience=2, min_lr=1e-7)
model.fit(
    [c_tr, k_tr], (y_tr - mean) / std, batch_size=64, epochs=30, validation_split=0.15, callbacks=[slower], verbose=2
)

pred = model.predict([c_te, k_te], verbose=0)[:, 0] * std + mean
print("SCORE r2", round(float(1 - np.mean((pred - y_te) ** 2) / y_te.var()), 4))
