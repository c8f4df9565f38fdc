"""Predict which consumer loans default from application data with numeric and categorical fields."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 9000
income = rng.lognormal(10.3, 0.5, N)
amount = rng.lognormal(9.2, 0.6, N)
age = rng.uniform(19, 75, N)
months = rng.choice([12, 24, 36, 48, 60], N)
late = rng.poisson(0.6, N)
utilisation = rng.beta(2, 3, N)
purpose = rng.integers(0, 9, N)
region = rng.integers(0, 20, N)

purpose_effect = rng.normal(0, 0.8, 9)
region_effect = rng.normal(0, 0.4, 20)
burden = amount / income * 12 / months
score = (
    1.3 * np.log(burden)
    + 1.1 * late
    + 3.0 * (utilisation - 0.4)
    + 2.5 * utilisation * (late > 0)
    - 0.03 * (age - 45)
    + purpose_effect[purpose]
    + region_effect[region]
)
score = 1.6 * (score - np.quantile(score, 0.72))
default = (rng.random(N) < 1 / (1 + np.exp(-score))).astype("float32")

numeric = np.stack([income, amount, age, months, late, utilisation], -1).astype("float32")
cut = 7000


def take(sl):
    return {"numeric": numeric[sl], "purpose": purpose[sl], "region": region[sl]}, default[sl]


x_train, y_train = take(slice(0, cut))
x_test, y_test = take(slice(cut, N))

numeric_in = keras.Input((6,), name="numeric")
purpose_in = keras.Input((), name="purpose", dtype="int32")
region_in = keras.Input((), name="region", dtype="int32")
h = layers.Concatenate()(
    [
        numeric_in,
        layers.Embedding(9, 4)(purpose_in),
        layers.Embedding(20, 4)(region_in),
    ]
)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dropout(0.1)(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(1)(h)
model = keras.Model([numeric_in, purpose_in, region_in], out)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

s = model.predict(x_test, verbose=0)[:, 0]
rank = np.empty(len(s))
rank[np.argsort(s + 1e-9 * rng.random(len(s)))] = np.arange(1, len(s) + 1)
pos = y_test == 1
auc = (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE auc", round(float(auc), 4))
