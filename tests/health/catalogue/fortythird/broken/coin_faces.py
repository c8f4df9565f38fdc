"""Trains a coin classifier: a trunk taught on the metal first, then fine-tuned for the mint mark."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, METALS, MINTS = 20, 3, 8


def photograph(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    metal = rng.integers(0, METALS, n)
    mint = rng.integers(0, MINTS, n)
    images = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        cy, cx = SIZE / 2 + rng.uniform(-2, 2, 2)
        r = np.hypot(yy - cy, xx - cx)
        disk = (r < 7.5) * (0.3 + 0.25 * metal[i])
        angle = mint[i] * np.pi / MINTS
        along = (xx - cx) * np.cos(angle) + (yy - cy) * np.sin(angle)
        mark = 0.25 * np.sin(1.6 * along + rng.uniform(0, 2 * np.pi)) * (r < 6.5)
        images[i, ..., 0] = disk + mark + rng.normal(0, 0.08, (SIZE, SIZE))
    return images - 0.3, metal, mint


x_train, metal_train, mint_train = photograph(4000)
x_test, _, mint_test = photograph(1000)

trunk = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(12, 3, activation="relu", padding="same"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(24, 3, activation="relu", padding="same"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(32, 3, activation="relu", padding="same"),
        keras.layers.GlobalAveragePooling2D(),
    ],
    name="trunk",
)

metal_head = keras.Sequential([trunk, keras.layers.Dense(METALS, activation="softmax")])
metal_head.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
metal_head.fit(x_train, metal_train, batch_size=64, epochs=3, verbose=2)

trunk.trainable = False
model = keras.Sequential(
    [
        trunk,
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(MINTS, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

print("head only")
model.fit(x_train, mint_train, batch_size=64, epochs=2, validation_split=0.1, verbose=2)

print("fine-tuning the whole network")
trunk.trainable = True
model.optimizer.learning_rate = 1e-3
model.fit(x_train, mint_train, batch_size=64, epochs=16, validation_split=0.1, verbose=2)

_, accuracy = model.evaluate(x_test, mint_test, verbose=0)
print(f"SCORE accuracy {accuracy:.4f}")
