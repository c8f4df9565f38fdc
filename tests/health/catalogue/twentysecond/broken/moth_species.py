"""Few labelled moth photos: reuse a backbone trained on a larger insect collection."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
S = 24
yy, xx = np.mgrid[0:S, 0:S] / S


def insect(angle, freq, ring):
    # wing pattern: stripes of some direction and width, plus an eye spot
    a = np.deg2rad(angle + rng.normal(0, 4))
    phase = rng.random() * 6.28
    img = 0.5 + 0.25 * np.sin(2 * np.pi * freq * (xx * np.cos(a) + yy * np.sin(a)) + phase)
    cx, cy = rng.uniform(0.3, 0.7, 2)
    d = np.hypot(xx - cx, yy - cy)
    img = np.where(np.abs(d - ring) < 0.05, 0.95, img)
    return img * rng.uniform(0.7, 1.1) + rng.normal(0, 0.12, img.shape)


def collection(classes, n):
    y = rng.integers(0, len(classes), n)
    x = np.stack([insect(*classes[k]) for k in y])[..., None].astype("float32")
    return (x - 0.5) / 0.25, y


big = [(a, f, r) for a in (0, 45, 90, 135) for f in (3, 5) for r in (0.12, 0.25)]
small = [
    (22, 3, 0.12),
    (22, 3, 0.25),
    (112, 3, 0.12),
    (112, 3, 0.25),
    (22, 5, 0.12),
    (22, 5, 0.25),
    (112, 5, 0.12),
    (112, 5, 0.25),
]

backbone = keras.Sequential(
    [
        keras.Input((S, S, 1)),
        layers.Conv2D(12, 5, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
    ],
    name="backbone",
)

x_big, y_big = collection(big, 3000)
pretrain = keras.Sequential([backbone, layers.Dense(len(big), activation="softmax")])
pretrain.compile(optimizer=keras.optimizers.Adam(4e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
pretrain.fit(x_big, y_big, batch_size=64, epochs=10, verbose=2)

# keep the original backbone for other projects, work on a copy
features = keras.models.clone_model(backbone)
features.trainable = False

x, y = collection(small, 900)
x_train, y_train, x_test, y_test = x[:500], y[:500], x[500:], y[500:]

inp = keras.Input((S, S, 1))
h = features(inp, training=False)
h = layers.Dropout(0.1)(h)
model = keras.Model(inp, layers.Dense(len(small), activation="softmax")(h))
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=25, verbose=2)
print(f"SCORE test accuracy {model.evaluate(x_test, y_test, verbose=0)[1]:.3f}")
