"""Trains a network that predicts the handling minutes of a parcel from the depot's export."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def make_parcels(n, rng):
    kind = rng.choice(3, n, p=[0.15, 0.55, 0.30])
    grams = np.exp(rng.normal(np.array([3.3, 6.8, 9.0])[kind], np.array([0.12, 0.5, 0.4])[kind]))
    girth = np.array([35, 90, 190])[kind] * np.exp(rng.normal(0, np.array([0.05, 0.12, 0.12])[kind]))
    value = np.exp(rng.normal(np.array([1.0, 3.5, 4.5])[kind], 0.7))
    floor = rng.integers(0, 7, n)
    km = rng.gamma(3.0, 4.0, n)
    fragile = (rng.random(n) < np.array([0.02, 0.2, 0.3])[kind]).astype(float)
    minutes = (
        2.0
        + 0.18 * km
        + 0.35 * floor * (1 + grams / 6000)
        + 1.5 * fragile * np.log1p(value / 30)
        + 2.0 * np.tanh((girth - 120) / 60)
        + rng.normal(0, 0.4, n)
    )
    x = np.stack([grams, girth, value, floor, km, fragile], axis=1)
    order = np.lexsort((km, kind))
    return x[order].astype("float32"), minutes[order].astype("float32")


rng = np.random.default_rng(SEED)
x, y = make_parcels(20000, rng)
x_test, y_test = make_parcels(4000, rng)
export = tf.data.Dataset.from_tensor_slices((x, y))

scale = layers.Normalization()
scale.adapt(export.batch(256).map(lambda row, minutes: row).take(6))

parcel = keras.Input((x.shape[1],))
h = scale(parcel)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(64, activation="relu")(h)
minutes = layers.Dense(1, bias_initializer=keras.initializers.Constant(float(y.mean())))(h)
model = keras.Model(parcel, minutes)
model.compile(keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

train = export.cache().shuffle(len(x), seed=SEED).batch(128).prefetch(2)
model.fit(train, epochs=10, verbose=2)

guess = model.predict(x_test, verbose=0)[:, 0]
mae = np.mean(np.abs(guess - y_test))
print(f"mean of the minutes {y_test.mean():.2f}, spread {y_test.std():.2f}, mean error {mae:.3f}")
print(f"SCORE r2 {1 - np.mean((guess - y_test) ** 2) / np.var(y_test):.4f}")
