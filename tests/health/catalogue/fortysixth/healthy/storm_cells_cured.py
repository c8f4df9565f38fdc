"""Trains a network that tells from a radiosonde profile whether lightning will follow."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 10000

pressure = rng.normal(1009, 6, N)
surface = rng.normal(294, 5, N)
dewpoint = surface - rng.gamma(2.0, 3.0, N)
upper = rng.normal(259, 4, N)
shear = rng.gamma(3.0, 4.0, N)
height = rng.normal(5650, 90, N)
raw = np.column_stack([pressure, surface, dewpoint, upper, shear, height]).astype("float32")

lapse = (surface - upper - 35) / 6.4
moist = (dewpoint - 288) / 6.5
logit = 4.0 * np.minimum(lapse, moist + 0.8) - 0.8 * np.abs((shear - 12) / 7) - 0.8 * (pressure - 1009) / 6
lightning = (rng.random(N) < 1 / (1 + np.exp(-2 * logit))).astype("float32")

n_train = 8500
mean, std = raw[:n_train].mean(axis=0), raw[:n_train].std(axis=0)
scaled = (raw - mean) / std

normalization = keras.layers.Normalization()
normalization.adapt(raw[:n_train])

model = keras.Sequential(
    [
        keras.Input((raw.shape[1],)),
        normalization,
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)


def dataset(rows, shuffle):
    data = tf.data.Dataset.from_tensor_slices((raw[rows], lightning[rows]))
    if shuffle:
        data = data.shuffle(4000, seed=seed)
    return data.batch(64)


train = dataset(slice(0, n_train), shuffle=True)
test = dataset(slice(n_train, None), shuffle=False)
history = model.fit(train, validation_data=test, epochs=12, verbose=2)

_, accuracy = model.evaluate(test, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
