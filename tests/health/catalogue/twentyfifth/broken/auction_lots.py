"""Hammer price (euro) and chance of a return, for lots at an auction house of old clocks."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEATURES = 14
A = rng.normal(size=(FEATURES, 3)) / np.sqrt(FEATURES)
B = rng.normal(size=(FEATURES, 2)) / np.sqrt(FEATURES)


def make(n):
    x = rng.normal(size=(n, FEATURES))
    a = x @ A
    price = 900 + 260 * a[:, 0] + 180 * np.abs(a[:, 1]) + 120 * np.tanh(2 * a[:, 2])
    price += rng.normal(scale=90, size=n)
    b = x @ B
    returned = (b[:, 0] * b[:, 1] * 6 + rng.normal(scale=0.3, size=n)) > 0
    return x.astype("float32"), price.astype("float32"), returned.astype("float32")


x_train, price_train, back_train = make(8000)
x_test, price_test, back_test = make(2000)

inputs = keras.Input((FEATURES,))
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
price = layers.Dense(1, name="price")(h)
returned = layers.Dense(1, activation="sigmoid", name="returned")(h)
model = keras.Model(inputs, {"price": price, "returned": returned}, name="lots")

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"price": "mse", "returned": "binary_crossentropy"},
    metrics={"price": ["mae"], "returned": [keras.metrics.AUC(name="auc")]},
)
gradwatch.watch(model)

model.fit(
    x_train,
    {"price": price_train, "returned": back_train},
    batch_size=64,
    epochs=10,
    validation_split=0.1,
    verbose=2,
)

result = model.predict(x_test, verbose=0)
auc = keras.metrics.AUC()
auc.update_state(back_test, result["returned"][:, 0])
r2 = 1 - np.mean((result["price"][:, 0] - price_test) ** 2) / np.var(price_test)
print(f"price r2 {r2:.4f}")
print("SCORE returned_auc", round(float(auc.result()), 4))
