"""Tell crop rows of different orientation and spacing apart in small aerial tiles."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, CLASSES = 20, 8
yy, xx = np.mgrid[:SIDE, :SIDE]


def tiles(n):
    label = rng.integers(0, CLASSES, n)
    angle = (label % 4) * np.pi / 4 + rng.normal(0, 0.12, n)
    period = np.where(label < 4, 4.0, 7.0) + rng.normal(0, 0.4, n)
    u = np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy
    img = np.sin(2 * np.pi * u / period[:, None, None] + rng.uniform(0, 6.28, (n, 1, 1)))
    img = 0.5 * img + rng.normal(0, 0.5, img.shape)
    return img[..., None].astype("float32"), label


x_train, y_train = tiles(3200)
x_test, y_test = tiles(800)
EPOCHS, BATCH = 12, 64

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 5, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ]
)
# halve the learning rate every four epochs
schedule = keras.optimizers.schedules.ExponentialDecay(2e-3, decay_steps=4, decay_rate=0.5, staircase=True)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))
