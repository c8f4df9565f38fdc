"""Leaf diseases from few pictures, starting from features learnt on a larger set.

First the source task; then the new head on frozen features; then a gentle
fine-tuning of everything with the normalisation layers kept in inference mode.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
PATTERNS = rng.normal(size=(10, 5, 5))


def pictures(n, kinds):
    k = rng.integers(0, len(kinds), n)
    im = rng.normal(0, 0.5, (n, 20, 20))
    for i in range(n):
        for _ in range(4):
            a, b = rng.integers(0, 15, 2)
            im[i, a : a + 5, b : b + 5] += PATTERNS[kinds[k[i]]]
    return im[..., None].astype("float32"), k


base = keras.Sequential(
    [
        keras.Input((20, 20, 1)),
        layers.Conv2D(16, 5, use_bias=False, name="c1"),
        layers.BatchNormalization(name="n1"),
        layers.ReLU(),
        layers.Conv2D(24, 3, strides=2, use_bias=False, name="c2"),
        layers.BatchNormalization(name="n2"),
        layers.ReLU(),
        layers.GlobalMaxPooling2D(),
    ],
    name="base",
)

picture = keras.Input((20, 20, 1))
source_model = keras.Model(picture, layers.Dense(6, name="source_head")(base(picture)))
target_picture = keras.Input((20, 20, 1))
model = keras.Model(target_picture, layers.Dense(4, name="leaf_head")(base(target_picture, training=False)))
gradwatch.watch(model)


def crossentropy():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


x, y = pictures(3200, range(6))
source_model.compile(keras.optimizers.Adam(3e-3), crossentropy(), metrics=["accuracy"])
source_model.fit(x, y, batch_size=32, epochs=2, verbose=2)

xl, yl = pictures(640, range(6, 10))
xt, yt = pictures(500, range(6, 10))
base.trainable = False
model.compile(keras.optimizers.Adam(1e-2), crossentropy(), metrics=["accuracy"])
model.fit(xl, yl, batch_size=32, epochs=5, verbose=2)
print("frozen features, held out:", model.evaluate(xt, yt, verbose=0))

base.trainable = True
model.compile(keras.optimizers.Adam(2e-4), crossentropy(), metrics=["accuracy"])
model.fit(xl, yl, batch_size=32, epochs=4, verbose=2)
print("fine-tuned, held out:", model.evaluate(xt, yt, verbose=0))
