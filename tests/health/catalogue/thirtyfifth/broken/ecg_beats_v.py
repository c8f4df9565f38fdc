"""Sorts single heart beats into five rhythm types, with a moving average of the weights for validation."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, TYPES = 96, 5
t = np.linspace(0, 1, LENGTH)


def bump(center, width):
    return np.exp(-((t - center) ** 2) / (2 * width**2))


def make_beats(n):
    y = rng.integers(0, TYPES, n)
    x = np.zeros((n, LENGTH, 1), "float32")
    for i, kind in enumerate(y):
        shift = rng.normal(0, 0.03)
        width = 0.04 if kind == 1 else 0.02
        beat = 1.2 * bump(0.45 + shift, width) - 0.3 * bump(0.5 + shift, 0.015)
        if kind != 2:
            beat += 0.25 * bump(0.28 + shift, 0.03)
        beat += (-0.35 if kind == 3 else 0.35) * bump(0.7 + shift, 0.05)
        if kind == 4:
            beat += 0.3 * bump(0.58 + shift, 0.04)
        x[i, :, 0] = beat * rng.uniform(0.8, 1.2) + 0.1 * rng.normal(size=LENGTH)
    return x, y


x_train, y_train = make_beats(1280)
x_val, y_val = make_beats(320)
x_test, y_test = make_beats(600)


class WeightAverage(keras.callbacks.Callback):
    """Keeps a moving average of the weights and reports its accuracy each epoch."""

    def __init__(self, x, y, decay=0.998):
        super().__init__()
        self.x, self.y, self.decay = x, y, decay

    def on_train_begin(self, logs=None):
        self.average = [w.copy() for w in self.model.get_weights()]

    def on_train_batch_end(self, batch, logs=None):
        for avg, w in zip(self.average, self.model.get_weights()):
            avg *= self.decay
            avg += (1 - self.decay) * w

    def on_epoch_end(self, epoch, logs=None):
        self.model.set_weights(self.average)
        pred = self.model(self.x, training=False).numpy().argmax(-1)
        print("epoch", epoch, "averaged weights: val accuracy", (pred == self.y).mean())

    def on_train_end(self, logs=None):
        self.model.set_weights(self.average)


model = keras.Sequential(
    [
        layers.Input((LENGTH, 1)),
        layers.Conv1D(16, 7, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(24, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(TYPES, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(5e-4),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=32,
    epochs=20,
    verbose=2,
    callbacks=[WeightAverage(x_val, y_val)],
)
pred = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE accuracy", float((pred == y_test).mean()))
