"""Kinds of defects on 8-bit wafer maps."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE = 24
KINDS = ["clean", "scratch", "ring", "edge", "cluster"]


def wafer(kind):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] - (SIDE - 1) / 2
    radius = np.hypot(yy, xx)
    image = rng.normal(90, 18, (SIDE, SIDE))
    if kind == 1:
        angle, shift = rng.uniform(0, np.pi), rng.uniform(-5, 5)
        image[np.abs(xx * np.cos(angle) + yy * np.sin(angle) - shift) < 0.9] += 70
    elif kind == 2:
        image[np.abs(radius - rng.uniform(4, 8)) < 1.0] += 55
    elif kind == 3:
        image[(radius > 10) & (np.arctan2(yy, xx) * rng.choice([-1, 1]) > 0.5)] += 55
    elif kind == 4:
        cy, cx = rng.uniform(-6, 6, 2)
        image[np.hypot(yy - cy, xx - cx) < 3] += 60
    return np.clip(image, 0, 255).astype("uint8")


def make_set(count):
    kinds = rng.integers(0, len(KINDS), count)
    return np.stack([wafer(k) for k in kinds])[..., None], kinds.astype("int32")


def load(count):
    images, kinds = make_set(count)
    images = images.astype("float32") / 255.0
    return images, kinds


x_train, y_train = load(2500)
x_test, y_test = load(600)

inputs = keras.Input((SIDE, SIDE, 1))
x = keras.layers.Rescaling(1.0 / 255)(inputs)
for filters in (16, 32):
    x = keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    x = keras.layers.MaxPooling2D()(x)
x = keras.layers.Flatten()(x)
x = keras.layers.Dense(64, activation="relu")(x)
outputs = keras.layers.Dense(len(KINDS))(x)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.SGD(0.03, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
