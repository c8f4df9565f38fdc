import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 101)

SIDE = 20
KINDS = ["two_hole", "four_hole", "shank", "toggle", "star"]


def draw(kind):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(float)
    cy, cx = rng.uniform(8.5, 10.5, 2)
    r = rng.uniform(6, 8)
    dy, dx = yy - cy, xx - cx
    dist = np.sqrt(dy**2 + dx**2)
    disc = (dist < r).astype(float)
    if kind == 0:
        for s in (-2, 2):
            disc[(dy**2 + (dx - s) ** 2) < 2] = 0
    elif kind == 1:
        for s in (-2, 2):
            for t in (-2, 2):
                disc[((dy - t) ** 2 + (dx - s) ** 2) < 1.6] = 0
    elif kind == 3:
        disc = ((np.abs(dy) < 2.5) & (np.abs(dx) < r)).astype(float)
    elif kind == 4:
        disc = (dist < r * (0.65 + 0.35 * np.cos(5 * np.arctan2(dy, dx)))).astype(float)
    return disc * rng.uniform(0.5, 1.0) + rng.normal(0, 0.1, (SIDE, SIDE))


def make_buttons(n):
    y = rng.integers(0, len(KINDS), n)
    x = np.stack([draw(k) for k in y])[..., None].astype("float32")
    return x, y


x_train, y_train = make_buttons(3000)
x_test, y_test = make_buttons(800)
y_train_cat = keras.utils.to_categorical(y_train, len(KINDS))
y_test_cat = keras.utils.to_categorical(y_test, len(KINDS))

model = keras.Sequential(
    [
        layers.Input((SIDE, SIDE, 1)),
        layers.Conv2D(16, 3, activation="relu", name="conv_a"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", name="conv_b"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu", name="dense_a"),
        layers.Dense(32, activation="relu", name="dense_b"),
        layers.Dense(len(KINDS), activation="softmax", name="kind"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.1),
    loss="categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train_cat, epochs=8, batch_size=64, validation_data=(x_test, y_test_cat), verbose=2)

print("SCORE", float(model.evaluate(x_test, y_test_cat, verbose=0)[1]))
