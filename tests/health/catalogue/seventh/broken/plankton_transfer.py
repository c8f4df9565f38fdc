"""Sorts plankton silhouettes with a backbone whose description comes as JSON."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, GROUPS = 20, 6


def describe_backbone():
    """The zoo ships this as backbone.json: a stem and two stages, nested."""
    stem = keras.Sequential(
        [keras.Input((SIZE, SIZE, 1)), layers.Conv2D(8, 3, strides=2, activation="relu")], name="stem"
    )
    stage = keras.Sequential(
        [
            keras.Input((9, 9, 8)),
            layers.Conv2D(12, 3, activation="relu"),
            layers.Conv2D(12, 3, activation="relu"),
        ],
        name="stage",
    )
    image = keras.Input((SIZE, SIZE, 1))
    h = layers.GlobalAveragePooling2D()(stage(stem(image)))
    h = layers.Dense(6, activation="relu", name="embedding")(h)
    return keras.Model(image, h, name="zoo_backbone").to_json()


def make_plankton(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] - (SIZE - 1) / 2
    group = rng.integers(0, GROUPS, n)
    out = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i, g in enumerate(group):
        turn = rng.uniform(-0.3, 0.3)
        u = xx * np.cos(turn) - yy * np.sin(turn) - rng.uniform(-2, 2)
        v = xx * np.sin(turn) + yy * np.cos(turn) - rng.uniform(-2, 2)
        r = np.hypot(u, v)
        shape = [
            r < 5,
            (r < 6) & (r > 4),
            (np.abs(u) < 1.5) & (np.abs(v) < 7),
            (np.abs(v) < 1.5) & (np.abs(u) < 7),
            (np.abs(u) < 4.5) & (np.abs(v) < 4.5) & ((np.abs(u) > 3) | (np.abs(v) > 3)),
            (np.abs(u - v) < 2) & (r < 7),
        ][g]
        out[i, :, :, 0] = shape * rng.uniform(0.5, 1.0)
    return out + rng.normal(0, 0.1, out.shape).astype("float32"), group.astype("int32")


x, y = make_plankton(1600)
x_val, y_val = make_plankton(300)

backbone = keras.models.model_from_json(describe_backbone())
backbone.trainable = False

augment = keras.Sequential([layers.RandomFlip("horizontal_and_vertical")], name="augment")
head = keras.Sequential(
    [keras.Input((6,)), layers.Dense(32, activation="relu"), layers.Dense(GROUPS, activation="softmax")],
    name="head",
)
photo = keras.Input((SIZE, SIZE, 1))
model = keras.Model(photo, head(backbone(augment(photo))), name="plankton")
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=12, validation_data=(x_val, y_val), verbose=2)
print("validation accuracy", model.evaluate(x_val, y_val, verbose=0)[1])
