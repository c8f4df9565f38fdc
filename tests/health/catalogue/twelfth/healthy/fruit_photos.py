"""Classifies small colour photographs of fruit (bytes 0..255) with a convnet under strong dropout."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE = 24
FRUIT = ["apple", "banana", "lime", "plum", "orange", "pear"]
COLOUR = np.array([[200, 40, 40], [220, 200, 60], [90, 190, 60], [110, 40, 120], [230, 130, 40], [170, 190, 70]])
LONG = np.array([1.0, 2.6, 1.3, 1.4, 1.0, 1.6])


def make_photos(n):
    kind = rng.integers(0, len(FRUIT), n)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(9, 15, (2, n, 1, 1))
    turn = rng.uniform(0, np.pi, (n, 1, 1))
    r = rng.uniform(4, 6.5, (n, 1, 1))
    stretch = np.sqrt(LONG[kind] * rng.uniform(0.9, 1.1, n))[:, None, None]
    u = (xx - cx) * np.cos(turn) + (yy - cy) * np.sin(turn)
    v = -(xx - cx) * np.sin(turn) + (yy - cy) * np.cos(turn)
    mask = 1 / (1 + np.exp(np.minimum(4 * ((u / stretch) ** 2 + (v * stretch) ** 2 - r**2) / r, 80)))
    body = COLOUR[kind][:, None, None] + rng.normal(0, 30, (n, 1, 1, 3))
    ground = rng.uniform(60, 220, (n, 1, 1, 3))
    light = rng.uniform(0.7, 1.15, (n, 1, 1, 1))
    image = (mask[..., None] * body + (1 - mask[..., None]) * ground) * light
    image = image + rng.normal(0, 20, image.shape)
    return np.clip(image, 0, 255).astype("uint8"), tf.keras.utils.to_categorical(kind, len(FRUIT))


x_train, y_train = make_photos(3200)
x_test, y_test = make_photos(600)

model = tf.keras.Sequential(
    [
        tf.keras.Input((SIZE, SIZE, 3)),
        layers.Rescaling(1 / 127.5, offset=-1.0),
        layers.RandomFlip("horizontal"),
        layers.Conv2D(16, 3, padding="same", activation="relu", name="conv_1"),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, padding="same", activation="relu", name="conv_2"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(64, activation="relu", name="dense"),
        layers.Dropout(0.6),
        layers.Dense(len(FRUIT), activation="softmax", name="fruit"),
    ]
)
gradwatch.watch(model)
model.compile(
    optimizer=tf.keras.optimizers.RMSprop(1e-3),
    loss=tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.05),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2)
_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"score accuracy {accuracy:.4f} chance {1 / len(FRUIT):.4f}")
