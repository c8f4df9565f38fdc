import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIZE = 24
rng = np.random.default_rng(SEED + 14)
yy, xx = np.mgrid[:SIZE, :SIZE]


def texture(angle, period, kind):
    a = np.deg2rad(angle + rng.normal(0, 4))
    ph = rng.uniform(0, 6.28, 2)
    s = np.sin(2 * np.pi * (xx * np.cos(a) + yy * np.sin(a)) / period + ph[0])
    if kind == "grid":
        s = s * np.sin(2 * np.pi * (yy * np.cos(a) - xx * np.sin(a)) / period + ph[1])
    base = 0.5 + 0.35 * s + rng.normal(0, 0.08, s.shape)
    return np.clip(base, 0, 1)


SOURCE = [(0, 5, "bar"), (45, 5, "bar"), (90, 5, "bar"), (135, 5, "bar"), (0, 8, "bar"), (90, 8, "bar")]
WEAVES = [(0, 6, "grid"), (45, 6, "grid"), (22, 6, "bar"), (112, 6, "bar")]


def make(specs, n):
    y = rng.integers(0, len(specs), n)
    x = np.stack([texture(*specs[k]) for k in y])[..., None].astype("float32")
    return x, y


def backbone():
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 1)),
            layers.Conv2D(16, 5, activation="relu", padding="same"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu", padding="same"),
            layers.GlobalAveragePooling2D(),
        ],
        name="backbone",
    )


base = backbone()
pre = keras.Sequential([base, layers.Dense(len(SOURCE), activation="softmax")])
pre.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
pre.fit(*make(SOURCE, 1500), epochs=6, batch_size=32, verbose=0)

x_train, y_train = make(WEAVES, 1000)
x_test, y_test = make(WEAVES, 500)

base.trainable = False
augment = keras.Sequential(
    [
        layers.RandomTranslation(0.1, 0.1, fill_mode="wrap"),
        layers.RandomBrightness(0.2),
    ],
    name="augment",
)
inp = keras.Input((SIZE, SIZE, 1))
x = augment(inp)
x = base(x, training=False)
x = layers.Dense(32, activation="relu", name="adapter")(x)
out = layers.Dense(len(WEAVES), activation="softmax", name="weave")(x)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
watch = gradwatch.watch(model)
model.fit(x_train, y_train, epochs=12, batch_size=32, verbose=2)

pred = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE", float((pred == y_test).mean()))
