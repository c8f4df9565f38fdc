import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIDE = 20
CLASSES = ["round", "lance", "heart", "toothed"]


def draw_leaf(kind, rng):
    yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    xx = xx + rng.normal(0, 0.08)
    yy = yy + rng.normal(0, 0.08)
    angle = rng.normal(0, 0.25)
    x = np.cos(angle) * xx - np.sin(angle) * yy
    y = np.sin(angle) * xx + np.cos(angle) * yy
    r, theta = np.hypot(x, y), np.arctan2(y, x)
    size = rng.uniform(0.55, 0.8)
    if kind == 0:
        mask = r < size
    elif kind == 1:
        mask = (x / 0.35) ** 2 + y**2 < size**2
    elif kind == 2:
        mask = r < size * (0.55 + 0.45 * np.sin(theta))
    else:
        mask = r < size * (0.75 + 0.3 * np.cos(7 * theta))
    img = 0.7 * mask + 0.15 * rng.normal(size=mask.shape)
    return img


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([draw_leaf(k, rng) for k in y]).astype("float32")
    return x[..., None], y


x_train, y_train = dataset(1600, SEED)
x_val, y_val = dataset(500, SEED + 1000)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(16, 3, activation="relu", name="conv_1"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", name="conv_2"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu", name="fc_1"),
        layers.Dense(32, activation="relu", name="fc_2"),
        layers.Dense(len(CLASSES), activation="softmax", name="species"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.001), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, validation_data=(x_val, y_val), verbose=0)

_, acc = model.evaluate(x_val, y_val, verbose=0)
print("SCORE", float(acc))
