"""Tells eight kinds of moth by the eyespots and bands on 16 x 16 scans of their wings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, KINDS = 16, 8
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def wing(kind):
    img = 0.4 + rng.normal(scale=0.12, size=(SIZE, SIZE))
    cy, cx = rng.uniform(4, SIZE - 4, 2)
    radius = np.hypot(yy - cy, xx - cx)
    if kind & 1:
        img += 0.5 * (np.abs(radius - 3.0) < 0.7)
    else:
        img += 0.5 * (radius < 2.0)
    slope = 1 if kind & 2 else -1
    offset = rng.uniform(-4, 4)
    img -= 0.35 * (np.abs(yy - SIZE / 2 - slope * (xx - SIZE / 2) - offset) < 1.0)
    if kind & 4:
        img += 0.12 * np.sin(xx * 2.1 + rng.uniform(0, 6))
    return img


def make(n):
    kind = rng.integers(0, KINDS, n)
    return np.stack([wing(k) for k in kind])[..., None].astype("float32"), kind


x_train, y_train = make(3500)
x_val, y_val = make(800)
x_test, y_test = make(1000)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(48, activation="relu"),
        layers.Dense(KINDS, activation="softmax"),
    ],
    name="moths",
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=[keras.metrics.SparseTopKCategoricalAccuracy(k=1, name="top1")],
)
gradwatch.watch(model)

callbacks = [
    keras.callbacks.ReduceLROnPlateau(monitor="val_top1", mode="min", factor=0.2, patience=1, min_lr=1e-6, verbose=0),
    keras.callbacks.TerminateOnNaN(),
]
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=16,
    validation_data=(x_val, y_val),
    callbacks=callbacks,
    verbose=2,
)

_, top1 = model.evaluate(x_test, y_test, verbose=0)
print("SCORE test_top1", round(float(top1), 4))
