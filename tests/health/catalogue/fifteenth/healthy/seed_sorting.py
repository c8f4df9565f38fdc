"""Sort seeds of four new varieties with features learnt on six known ones."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 80)

SIDE = 20
BATCH = 32
yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]

VARIETIES = [
    (0.75, 0.30, 0),
    (0.75, 0.30, 4),
    (0.55, 0.50, 0),
    (0.55, 0.50, 6),
    (0.40, 0.38, 0),
    (0.40, 0.38, 3),
    (0.70, 0.48, 2),
    (0.62, 0.30, 7),
    (0.48, 0.45, 4),
    (0.85, 0.24, 2),
]


def photograph(variety):
    long, short, stripes = VARIETIES[variety]
    phi = rng.uniform(-0.5, 0.5)
    cx, cy = rng.uniform(-0.12, 0.12, 2)
    u = (xx - cx) * np.cos(phi) + (yy - cy) * np.sin(phi)
    v = -(xx - cx) * np.sin(phi) + (yy - cy) * np.cos(phi)
    scale = rng.uniform(0.92, 1.08)
    seed = (u / (long * scale)) ** 2 + (v / (short * scale)) ** 2 < 1
    surface = 0.65 + (0.25 * np.cos(np.pi * stripes * u) if stripes else 0.0)
    return np.where(seed, surface, 0.1) + 0.07 * rng.normal(size=(SIDE, SIDE))


def collect(varieties, n):
    labels = rng.integers(len(varieties), size=n)
    images = np.stack([photograph(varieties[k]) for k in labels])
    return images[..., None].astype("float32"), labels.astype("int32")


known, new = [0, 1, 2, 3, 4, 5], [6, 7, 8, 9]

backbone = keras.Sequential(
    [
        layers.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 3, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
    ],
    name="backbone",
)

x_known, y_known = collect(known, 1920)
source = keras.Sequential([backbone, layers.Dense(len(known), activation="softmax")])
source.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
source.fit(x_known, y_known, batch_size=BATCH, epochs=4, verbose=2)

backbone.trainable = False
inputs = keras.Input((SIDE, SIDE, 1))
hidden = backbone(inputs, training=False)
hidden = layers.Dropout(0.2)(hidden)
outputs = layers.Dense(len(new), activation="softmax", name="new_head")(hidden)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

x_new, y_new = collect(new, 480)
x_test, y_test = collect(new, 600)
watch = gradwatch.watch(model)
model.fit(x_new, y_new, batch_size=BATCH, epochs=26, verbose=2)

guess = np.argmax(model.predict(x_test, batch_size=200, verbose=0), axis=1)
print("score", round(float(np.mean(guess == y_test)), 4))
