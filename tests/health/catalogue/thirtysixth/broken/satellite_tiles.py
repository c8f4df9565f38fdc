"""Classify small satellite tiles by land cover (six kinds)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES = ["water", "forest", "crops", "urban", "sand", "meadow"]
BASE = np.array([[0.2, 0.3, 0.5], [0.2, 0.4, 0.2], [0.5, 0.5, 0.3], [0.5, 0.5, 0.5], [0.7, 0.6, 0.4], [0.4, 0.6, 0.3]])
SIZE = 24


def tile(kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    img = np.tile(BASE[kind], (SIZE, SIZE, 1)) + rng.normal(0, 0.12, 3)
    if kind == 2:
        a = rng.uniform(0, np.pi)
        img += 0.15 * np.sin(30 * (np.cos(a) * xx + np.sin(a) * yy))[..., None]
    if kind == 3:
        img += 0.25 * rng.choice([-1, 1], (SIZE // 4, SIZE // 4, 1)).repeat(4, 0).repeat(4, 1)
    if kind == 4:
        img += 0.1 * np.sin(12 * yy + rng.uniform(0, 6))[..., None]
    if kind == 1:
        img += rng.normal(0, 0.12, (SIZE, SIZE, 1))
    return np.clip(img + rng.normal(0, 0.05, img.shape), 0, 1)


def load_split(per_class):
    # one folder after another, as on disk
    images, labels = [], []
    for kind in range(len(CLASSES)):
        for _ in range(per_class):
            images.append(tile(kind))
            labels.append(kind)
    return np.array(images, "float32"), np.array(labels, "int32")


x_train, y_train = load_split(400)
x_test, y_test = load_split(100)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(100, seed=seed).batch(32).prefetch(2)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(100)

model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 3)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(len(CLASSES), activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train, epochs=12, validation_data=test, verbose=2)

_, acc = model.evaluate(test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))
