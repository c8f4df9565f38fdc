"""Estimate crop yield from a season's satellite series, and name the crop and its stress on the side."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
WEEKS, CROPS = 32, 5


def fields(n):
    crop = rng.integers(0, CROPS, n)
    t = np.arange(WEEKS)[None]
    peak = 10 + 3 * crop + rng.normal(0, 1, n)
    vigour = rng.gamma(8, 0.125, n)
    green = vigour[:, None] * np.exp(-0.5 * ((t - peak[:, None]) / 4) ** 2)
    drought = rng.random(n) < 0.3
    wet = rng.normal(0.3, 0.1, (n, WEEKS)) - 0.25 * drought[:, None] * (t > 12)
    x = np.stack([green + rng.normal(0, 0.05, green.shape), wet], -1)
    yields = 4.0 * vigour * (1 - 0.4 * drought) + 0.4 * crop + rng.normal(0, 0.15, n)
    return x.astype("float32"), {
        "yield": yields.astype("float32")[:, None],
        "crop": crop.astype("int32"),
        "stress": drought.astype("float32")[:, None],
    }


series = keras.Input((WEEKS, 2), name="series")
h = layers.Conv1D(64, 5, activation="relu", padding="same", name="conv1")(series)
h = layers.MaxPooling1D(2)(h)
h = layers.Conv1D(96, 5, activation="relu", padding="same", name="conv2")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu", name="shared")(h)
model = keras.Model(
    series,
    {
        "yield": layers.Dense(1, name="yield")(layers.Dense(24, activation="relu", name="yield_hidden")(h)),
        "crop": layers.Dense(CROPS, name="crop")(h),
        "stress": layers.Dense(1, name="stress")(layers.Dense(16, activation="relu", name="stress_hidden")(h)),
    },
    name="crops",
)
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={
        "yield": "mse",
        "crop": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        "stress": keras.losses.BinaryCrossentropy(from_logits=True),
    },
    loss_weights={"yield": 1.0, "crop": 0.5, "stress": 1e-4},
    metrics={"yield": ["mae"], "crop": ["accuracy"], "stress": [keras.metrics.BinaryAccuracy(threshold=0.0)]},
)
x_train, y_train = fields(192 * 120)
x_test, y_test = fields(1500)
print("before", model.evaluate(x_test, y_test, batch_size=500, verbose=0, return_dict=True))
model.fit(x_train, y_train, batch_size=192, epochs=3, verbose=2)
print("after", model.evaluate(x_test, y_test, batch_size=500, verbose=0, return_dict=True))
