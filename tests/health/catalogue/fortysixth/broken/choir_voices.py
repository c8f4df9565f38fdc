"""Trains a classifier that hears which voices of a choir are singing in a short recording."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOICES = ["soprano", "alto", "tenor", "bass", "organ"]
FRAMES, BINS = 16, 40

centre = np.array([30.0, 24.0, 16.0, 9.0, 20.0])
width = np.array([2.5, 2.5, 2.5, 2.5, 9.0])


def make_recordings(n):
    active = rng.random((n, len(VOICES))) < 0.45
    spectra = rng.normal(0, 0.3, (n, FRAMES, BINS))
    bins = np.arange(BINS)
    for v in range(len(VOICES)):
        pitch = centre[v] + rng.normal(0, 1.5, (n, 1)) + np.cumsum(rng.normal(0, 0.3, (n, FRAMES)), axis=1)
        shape = np.exp(-0.5 * ((bins - pitch[..., None]) / width[v]) ** 2)
        loud = rng.uniform(0.7, 1.3, (n, 1, 1))
        spectra += active[:, v, None, None] * loud * shape
    return spectra.astype("float32"), active.astype("float32")


train_x, train_y = make_recordings(6000)
test_x, test_y = make_recordings(1500)
mean, std = train_x.mean(), train_x.std()
train_x, test_x = (train_x - mean) / std, (test_x - mean) / std


def build():
    inputs = keras.Input((FRAMES, BINS))
    x = keras.layers.Conv1D(32, 3, padding="same", activation="relu")(inputs)
    x = keras.layers.Conv1D(32, 3, padding="same", activation="relu")(x)
    x = keras.layers.GlobalAveragePooling1D()(x)
    x = keras.layers.Dense(32, activation="relu")(x)
    outputs = keras.layers.Dense(len(VOICES), activation="softmax")(x)
    return keras.Model(inputs, outputs)


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.CategoricalCrossentropy(),
    metrics=[keras.metrics.F1Score(average="micro", threshold=0.5, name="f1")],
)
gradwatch.watch(model)

model.fit(train_x, train_y, batch_size=64, epochs=10, validation_data=(test_x, test_y), verbose=2)

heard = model.predict(test_x, batch_size=500, verbose=0) > 0.5
true = test_y > 0.5
f1 = 2 * np.sum(heard & true) / (np.sum(heard) + np.sum(true))
print("SCORE f1", round(float(f1), 4))
