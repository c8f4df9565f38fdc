import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 61)

SIDE = 24


def make_scans(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    images = np.zeros((n, SIDE, SIDE, 1), "float32")
    cavity = rng.integers(0, 2, n)
    for i in range(n):
        cy, cx = rng.uniform(9, 15, 2)
        ry, rx = rng.uniform(7, 9), rng.uniform(5, 7)
        tooth = (((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2) < 1
        img = 60 + 120 * tooth + rng.normal(0, 12, (SIDE, SIDE))
        if cavity[i]:
            hy = cy + rng.uniform(-3, 3)
            hx = cx + rng.uniform(-3, 3)
            hole = ((yy - hy) ** 2 + (xx - hx) ** 2) < 5
            img = img - 80 * hole
        images[i, :, :, 0] = np.clip(img, 0, 255)
    return images, cavity.astype("float32")


x_train, y_train = make_scans(2400)
x_test, y_test = make_scans(600)
x_train, x_test = x_train / 255.0, x_test / 255.0

model = keras.Sequential(
    [
        layers.Input((SIDE, SIDE, 1)),
        layers.Conv2D(16, 3, activation="relu", name="conv_1"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", name="conv_2"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu", name="fc"),
        layers.Dense(1, activation="softmax", name="has_cavity"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, validation_split=0.1, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", float(np.mean((p > 0.5) == (y_test > 0.5))))
