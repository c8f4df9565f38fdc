"""Recognises six kinds of bird call in small spectrograms with a convolutional network."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FREQ, FRAMES, N_CALLS = 24, 32, 6
BATCH, EPOCHS = 32, 15


def spectrogram(kind):
    t = np.arange(FRAMES)
    start, length = rng.integers(0, 12), rng.integers(14, 20)
    u = np.clip((t - start) / length, 0, 1)
    base = rng.uniform(6, 12)
    track = {
        0: base + 7 * u,  # rising
        1: base + 7 - 7 * u,  # falling
        2: base + 4 + 3 * np.sin(4 * np.pi * u),  # warble
        3: base + 4 + 0 * u,  # steady
        4: base + 7 * np.abs(2 * u - 1),  # dip
        5: base + 7 - 7 * np.abs(2 * u - 1),  # hump
    }[kind]
    active = (t >= start) & (t < start + length)
    image = np.exp(-0.5 * ((np.arange(FREQ)[:, None] - track) / 0.9) ** 2) * active
    return rng.uniform(0.6, 1.2) * image + 0.25 * np.abs(rng.standard_normal((FREQ, FRAMES)))


def recordings(n):
    y = rng.integers(0, N_CALLS, n)
    x = np.stack([spectrogram(k) for k in y])[..., None].astype("float32")
    return x, y


x_train, y_train = recordings(2000)
x_test, y_test = recordings(600)

model = keras.Sequential(
    [
        keras.Input((FREQ, FRAMES, 1)),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(N_CALLS, activation="softmax"),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(1e-3, decay_steps=EPOCHS)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(x_test, batch_size=100, verbose=0).argmax(-1)
print("SCORE accuracy", float(np.mean(pred == y_test)))
