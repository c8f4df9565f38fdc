"""Trains a classifier of rock types from photographs of drill cores of a quarry."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TYPES = ["granite", "gneiss", "marble", "slate", "basalt"]
SIZE, COPIES = 24, 4


def core_image(kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    grain = rng.normal(0, 1, (SIZE, SIZE))
    phase = rng.uniform(0, 2 * np.pi)
    if kind == 0:
        return 0.2 + 0.9 * (grain > 0.8) - 0.9 * (grain < -0.8)
    if kind == 1:
        return np.sin(yy / 2.5 + 0.5 * np.sin(xx / 4 + phase) + phase) + 0.3 * grain
    if kind == 2:
        return 0.8 - 1.2 * (np.abs(np.sin((xx + yy) / 9 + phase)) < 0.15) + 0.3 * grain
    if kind == 3:
        return 0.8 * np.sign(np.sin(yy * 1.3 + phase)) - 0.4 + 0.3 * grain
    return -0.6 + 0.35 * grain


def make_cores(n):
    kinds = rng.integers(0, len(TYPES), n)
    images = np.stack([core_image(k) for k in kinds])
    return images.astype("float32")[..., None], kinds.astype("int32")


def augment(images, kinds, copies):
    """Every core several times, each copy with its own flips, light and noise."""
    images = np.repeat(images, copies, axis=0)
    kinds = np.tile(kinds, copies)
    for i in range(len(images)):
        if rng.random() < 0.5:
            images[i] = images[i, :, ::-1]
        if rng.random() < 0.5:
            images[i] = images[i, ::-1]
    light = rng.uniform(0.8, 1.2, (len(images), 1, 1, 1))
    noise = rng.normal(0, 0.8, images.shape)
    return (images * light + noise).astype("float32"), kinds


train_x, train_y = augment(*make_cores(2000), COPIES)
test_x, test_y = make_cores(1000)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(8, 5, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(len(TYPES), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(train_x, train_y, batch_size=64, epochs=8, shuffle=True, verbose=2)

_, accuracy = model.evaluate(test_x, test_y, batch_size=500, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
