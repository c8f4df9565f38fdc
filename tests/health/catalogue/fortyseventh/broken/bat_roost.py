"""Trains a small convolutional detector of bats leaving a roost in thermal camera patches."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 20
RATE = 0.05


def patch(has_bat):
    image = rng.normal(0.0, 0.35, (SIZE, SIZE))
    image += np.linspace(-0.5, 0.5, SIZE)[:, None] * rng.normal()
    r, c = rng.integers(5, SIZE - 5, 2)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    if has_bat:
        span = rng.uniform(3.0, 4.5)
        fold = rng.uniform(0.3, 0.8)
        wing = np.exp(-(((yy - r) - fold * np.abs(xx - c)) ** 2) / 1.5)
        image += 1.3 * wing * (np.abs(xx - c) < span)
    elif rng.random() < 0.5:
        image += 1.3 * np.exp(-((yy - r) ** 2 + (xx - c) ** 2) / rng.uniform(2.0, 5.0))
    return image


def make_set(n):
    y = (rng.random(n) < RATE).astype("float32")
    x = np.stack([patch(v > 0) for v in y])[..., None].astype("float32")
    return x, y


x_train, y_train = make_set(7000)
x_test, y_test = make_set(2500)

prior = keras.initializers.Constant(float(np.log(RATE / (1 - RATE))))
common = dict(padding="same", activation="relu", kernel_initializer="he_normal", bias_initializer=prior)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, **common),
        layers.MaxPooling2D(2),
        layers.Conv2D(16, 3, **common),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, **common),
        layers.GlobalMaxPooling2D(),
        layers.Dense(1, activation="sigmoid", bias_initializer=prior),
    ],
    name="roost",
)
model.compile(
    optimizer=keras.optimizers.Adam(1.5e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=9,
    validation_data=(x_test, y_test),
    verbose=2,
)

result = model.evaluate(x_test, y_test, verbose=0, return_dict=True)
print("SCORE auc", result["auc"])
