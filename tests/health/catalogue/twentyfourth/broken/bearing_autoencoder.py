"""Autoencoder of bearing vibration windows; held-out reconstruction is the score."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 64
t = np.arange(LENGTH) / LENGTH


def make_windows(n):
    speed = rng.uniform(2, 5, (n, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    second = rng.uniform(0.1, 0.6, (n, 1))
    wave = np.sin(2 * np.pi * speed * t + phase) + second * np.sin(4 * np.pi * speed * t + 2 * phase)
    load = rng.normal(0.5, 0.3, (n, 1))
    accel = 3.0 + 2.5 * load * wave + rng.normal(0, 0.1, (n, LENGTH))
    return accel[..., None]


train = make_windows(4000)
test = make_windows(600)
mean, std = train.mean(), train.std()
train = ((train - mean) / std).astype("float32")
test = ((test - mean) / std).astype("float32")

encoder = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(16, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(12),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((12,)),
        layers.Dense(16 * 32, activation="relu"),
        layers.Reshape((16, 32)),
        layers.Conv1DTranspose(32, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1DTranspose(16, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(1, 5, padding="same", activation="sigmoid"),
    ],
    name="decoder",
)
inputs = keras.Input((LENGTH, 1))
model = keras.Model(inputs, decoder(encoder(inputs)))
model.compile(optimizer=keras.optimizers.Adam(1.5e-3), loss="mse")

gradwatch.watch(model)
model.fit(train, train, batch_size=64, epochs=10, validation_data=(test, test), verbose=2)

recon = model.predict(test, verbose=0)
print("SCORE explained_variance", float(1 - np.mean((recon - test) ** 2) / np.var(test)))
