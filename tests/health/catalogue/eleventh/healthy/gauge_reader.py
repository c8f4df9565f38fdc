"""Dial gauges: needle reading and gauge type from small pictures, mixed precision.

A second, lightly weighted type head sits on the early features.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.config.set_dtype_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
S = 16


def gauges(n):
    kind = rng.integers(0, 3, n)
    a = rng.uniform(0, np.pi, n)
    yy, xx = np.mgrid[:S, :S] - (S - 1) / 2
    dx, dy = np.cos(a)[:, None, None], np.sin(a)[:, None, None]
    across = np.abs(xx * dy - yy * dx)
    along = xx * dx + yy * dy
    im = np.exp(-(across**2)) * (along > 0) * 1.5
    rad = np.sqrt(xx**2 + yy**2)
    im = im + 0.8 * np.exp(-((rad - (4 + 1.5 * kind)[:, None, None]) ** 2))
    im = im + rng.normal(0, 0.15, im.shape)
    return im[..., None].astype("float32"), {
        "reading": (a / np.pi).astype("float32")[:, None],
        "kind": kind,
        "kind_early": kind,
    }


pic = keras.Input((S, S, 1))
early = layers.Conv2D(12, 3, strides=2, padding="same", activation="relu")(pic)
deep = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(early)
flat = layers.Dense(48, activation="relu")(layers.Flatten()(deep))
reading = layers.Dense(1, dtype="float32", name="reading")(flat)
kind = layers.Dense(3, dtype="float32", name="kind")(flat)
kind_early = layers.Dense(3, dtype="float32", name="kind_early")(layers.Flatten()(early))
model = keras.Model(pic, {"reading": reading, "kind": kind, "kind_early": kind_early})
gradwatch.watch(model)

ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"reading": "mse", "kind": ce, "kind_early": ce},
    loss_weights={"reading": 5.0, "kind": 1.0, "kind_early": 0.2},
    metrics={"reading": "mae", "kind": "accuracy"},
)
x, y = gauges(3200)
xv, yv = gauges(500)
model.fit(x, y, batch_size=32, epochs=2, verbose=2)
print("held out:", {k: round(v, 4) for k, v in model.evaluate(xv, yv, verbose=0, return_dict=True).items()})
