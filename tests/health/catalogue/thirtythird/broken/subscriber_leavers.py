"""Predict which telecom subscribers cancel within the next month from usage and contract data."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 9000
tenure = rng.gamma(2.0, 14.0, n)
monthly = rng.normal(62, 22, n).clip(15, 140)
calls = rng.poisson(1.4, n)
data_gb = rng.lognormal(2.0, 0.7, n)
contract = rng.integers(0, 3, n)
region = rng.integers(0, 6, n)
autopay = rng.random(n) < 0.55

logit = (
    1.3
    - 0.05 * tenure
    + 0.022 * (monthly - 62)
    + 0.75 * np.maximum(calls - 1, 0)
    - 1.3 * contract
    - 0.5 * autopay
    + 0.8 * ((monthly > 75) & (data_gb < 6))
    + rng.normal(0, 0.5, n)
)
churned = (rng.random(n) < 1 / (1 + np.exp(-1.6 * logit))).astype("float32")

numeric = np.stack([tenure, monthly, calls, np.log(data_gb)], axis=1)
mean, std = numeric[:6000].mean(0), numeric[:6000].std(0)
numeric = (numeric - mean) / std
features = np.concatenate([numeric, np.eye(3)[contract], np.eye(6)[region], autopay[:, None]], axis=1).astype("float32")

x_train, y_train = features[:6000], churned[:6000]
x_val, y_val = features[6000:7200], churned[6000:7200]
x_test, y_test = features[7200:], churned[7200:]

inputs = keras.Input((features.shape[1],))
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dropout(0.2)(h)
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(1, activation="softmax")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    epochs=8,
    batch_size=64,
    verbose=2,
)

p = model.predict(x_test, verbose=0)[:, 0]
hit = (p > 0.5) == (y_test > 0.5)
balanced = 0.5 * (hit[y_test > 0.5].mean() + hit[y_test < 0.5].mean())
print("SCORE balanced_accuracy", round(float(balanced), 4))
