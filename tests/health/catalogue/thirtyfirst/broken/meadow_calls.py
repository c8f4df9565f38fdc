"""Tell four bird species apart by short spectrogram patches of their calls."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BATCH, EPOCHS = 32, 20
MELS, FRAMES, SPECIES = 24, 32, 4


def calls(n):
    y = rng.integers(0, SPECIES, n)
    f = np.arange(MELS)[None, :, None]
    t = np.arange(FRAMES)[None, None, :]
    start = rng.uniform(3, 12, (n, 1, 1))
    base = rng.uniform(7, 15, (n, 1, 1))
    u = (t - start) / 16.0
    slope = rng.uniform(4, 7, (n, 1, 1))
    shape = [u, -u, 1.2 * np.sin(2 * np.pi * u) * 0.6, 0.8 * np.sign(np.sin(4 * np.pi * u)) * 0.6]
    track = np.zeros((n, 1, FRAMES))
    for c in range(SPECIES):
        track += (y == c)[:, None, None] * shape[c] * slope
    on = (u > 0) & (u < 1)
    x = np.exp(-0.5 * ((f - base - track) / 1.0) ** 2) * on * rng.uniform(0.8, 1.6, (n, 1, 1))
    x = np.log(0.05 + x + 0.35 * rng.gamma(1.0, 1.0, (n, MELS, FRAMES)))
    return x[..., None].astype("float32"), y


x_train, y_train = calls(1920)
x_test, y_test = calls(800)
mu, sd = x_train.mean(), x_train.std()
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd

model = keras.Sequential(
    [
        layers.Input((MELS, FRAMES, 1)),
        layers.Conv2D(12, 5, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(20, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(SPECIES),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(initial_learning_rate=2e-3, decay_steps=EPOCHS, alpha=1e-3)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))
