"""Predicts the afternoon ozone level at six measuring sites from the weather and the site's situation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


# site: altitude (km), distance to the motorway (km), share of green land; busiest site first
sites = np.array(
    [[0.05, 0.1, 0.1], [0.1, 1.5, 0.3], [0.3, 4.0, 0.6], [0.2, 0.6, 0.2], [0.9, 9.0, 0.9], [0.6, 7.0, 0.8]], "float32"
)
share = [0.42, 0.2, 0.14, 0.1, 0.08, 0.06]


def collect(n):
    site = rng.choice(6, n, p=share)
    temp, sun, wind, nox = rng.normal(size=(4, n))
    alt, road, green = sites[site].T
    near = np.exp(-road)
    ozone = (
        0.6 * temp * sun
        + 0.8 * sun
        + 0.7 * alt
        - 0.4 * wind
        + near * (1.2 * wind - 1.1 * nox - 0.9 * sun)
        + 0.3 * green * temp
        + rng.normal(0, 0.3, n)
    )
    feats = np.stack([temp, sun, wind, nox, alt, road / 5, green], -1).astype("float32")
    return feats, ozone.astype("float32"), site.astype("int32")


x_train, y_train, site_train = collect(4000)
x_test, y_test, site_test = collect(1200)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train, site_train)).shuffle(4000).batch(32).prefetch(2)

inputs = keras.Input((7,))
h = layers.Dense(48, activation="relu")(inputs)
h = layers.Dense(48, activation="relu")(h)
model = keras.Model(inputs, layers.Dense(1)(h))
model.compile(optimizer="adam", loss="mse")
gradwatch.watch(model)
model.fit(train, epochs=9, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
for s in range(6):
    m = site_test == s
    print("site", s, "rmse", round(float(np.sqrt(np.mean((pred[m] - y_test[m]) ** 2))), 3))
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
