"""Trains a default-risk classifier on loan applications."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N = 16000
income = rng.lognormal(10.4, 0.5, N)
debt = rng.gamma(2.0, 6000.0, N)
age = rng.uniform(20, 70, N)
late = rng.poisson(0.8, N)
months = rng.integers(6, 72, N)
region = rng.integers(0, 12, N)
region_risk = rng.normal(0, 0.8, 12)

ratio = debt / income
logit = (
    2.5 * np.sin(3.0 * ratio)
    + 0.9 * late * np.cos(age / 8.0)
    + region_risk[region]
    + 0.8 * np.sign(months - 36) * np.tanh(ratio - 0.4)
    - 1.5
)
default = (rng.uniform(0, 1, N) < 1.0 / (1.0 + np.exp(-2.0 * logit))).astype("float32")

numeric = np.stack([np.log(income), ratio, age, late, months], axis=1)
split = 12000
numeric = (numeric - numeric[:split].mean(0)) / numeric[:split].std(0)
table = np.concatenate([numeric, np.eye(12)[region]], axis=1).astype("float32")
x_train, x_val, x_test = table[:split], table[split:14000], table[14000:]
y_train, y_val, y_test = default[:split], default[split:14000], default[14000:]

model = keras.Sequential(
    [
        keras.Input((table.shape[1],)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(4e-4),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="roc")],
)
gradwatch.watch(model)

plateau = keras.callbacks.ReduceLROnPlateau(monitor="val_roc", mode="max", factor=0.2, patience=2, min_lr=1e-6)
model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=256,
    epochs=36,
    callbacks=[plateau],
    verbose=2,
)

loss, roc = model.evaluate(x_test, y_test, verbose=0)
print(f"SCORE roc_auc {roc:.4f}")
