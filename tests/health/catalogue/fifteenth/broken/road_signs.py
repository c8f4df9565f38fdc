"""Eight kinds of road sign in 20 x 20 grey crops."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 60)

SIDE = 20
KINDS = 8
N_TRAIN, N_TEST = 2400, 600
BATCH = 32
EPOCHS = 8

yy, xx = np.mgrid[0:SIDE, 0:SIDE]


def draw(kind):
    cx, cy = SIDE / 2 - 0.5 + rng.uniform(-2, 2, 2)
    r = rng.uniform(5.5, 8.0)
    dx, dy = xx - cx, yy - cy
    dist = np.hypot(dx, dy)
    if kind == 0:
        shape = dist < r
    elif kind == 1:
        shape = (dist < r) & (dist > r - 2.5)
    elif kind == 2:
        shape = (dy > -r * 0.7) & (dy < r * 0.8) & (np.abs(dx) < (dy + r * 0.7) * 0.6)
    elif kind == 3:
        shape = (dy < r * 0.7) & (dy > -r * 0.8) & (np.abs(dx) < (r * 0.7 - dy) * 0.6)
    elif kind == 4:
        shape = np.maximum(np.abs(dx), np.abs(dy)) < r * 0.8
    elif kind == 5:
        shape = np.abs(dx) + np.abs(dy) < r
    elif kind == 6:
        shape = (dist < r) & (np.abs(dy) > 1.6)
    else:
        shape = (dist < r) & ((np.abs(dx) < 1.6) | (np.abs(dy) < 1.6))
    light, dark = rng.uniform(0.55, 0.95), rng.uniform(0.05, 0.4)
    image = np.where(shape, light, dark) + 0.08 * rng.normal(size=(SIDE, SIDE))
    return np.clip(image, 0, 1)


def crops(n):
    labels = rng.integers(KINDS, size=n)
    images = np.stack([draw(k) for k in labels])[..., None].astype("float32")
    return images, labels.astype("int32")


x_train, y_train = crops(N_TRAIN)
x_test, y_test = crops(N_TEST)

model = keras.Sequential(
    [
        layers.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(KINDS),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

guess = np.argmax(model.predict(x_test, batch_size=200, verbose=0), axis=1)
print("score", round(float(np.mean(guess == y_test)), 4))
