"""Spectral types of stars from broad band colours."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TYPES = ["O", "B", "A", "F", "G", "K", "M"]
COLOURS = 10


def make_catalogue(n):
    kind = rng.integers(0, len(TYPES), n)
    temperature = kind + rng.normal(0, 0.18, n)
    dust = rng.exponential(0.3, n)
    band = np.linspace(0, 1, COLOURS)
    colours = np.sin(0.9 * temperature[:, None] * (0.5 + band)) + dust[:, None] * band
    colours += rng.normal(0, 0.05, colours.shape)
    return colours.astype("float32"), kind.astype("int32")


class StarNet(keras.Model):
    def __init__(self, width=64):
        super().__init__(name="star_net")
        self.norm = layers.Normalization(name="norm")
        self.hidden1 = layers.Dense(width, activation="relu", name="hidden1")
        self.hidden2 = layers.Dense(width, activation="relu", name="hidden2")
        self.drop = layers.Dropout(0.1)
        self.kind = layers.Dense(len(TYPES), name="kind")

    def call(self, colours, training=False):
        h = self.norm(colours)
        h = self.hidden1(h)
        h = self.drop(h, training=training)
        h = self.hidden2(h)
        return self.kind(h)


x, y = make_catalogue(3000)
x_val, y_val = make_catalogue(600)

model = StarNet()
model.norm.adapt(x)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=10, validation_data=(x_val, y_val), verbose=2)

scores = model.predict(x_val, verbose=0)
guess = scores.argmax(axis=1)
for k, name in enumerate(TYPES):
    mine = guess[y_val == k]
    print(f"type {name}: {float((mine == k).mean()):.2f} correct of {len(mine)}")
