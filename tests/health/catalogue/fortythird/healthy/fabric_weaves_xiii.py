"""Trains a linear head on the frozen features of a convolutional network for the weaves of fabrics."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, WEAVES, EPOCHS = 24, 6, 36
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def cloth(n):
    weave = rng.integers(0, WEAVES, n)
    images = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i, k in enumerate(weave):
        angle = k * np.pi / WEAVES + rng.normal(0.0, 0.06)
        wave = xx * np.cos(angle) + yy * np.sin(angle)
        images[i, ..., 0] = np.sin(wave * rng.uniform(1.1, 1.5) + rng.uniform(0, 6.28))
        images[i] += rng.normal(0.0, 0.9, (SIZE, SIZE, 1))
    return images, weave


x, y = cloth(5000)
x_test, y_test = cloth(1000)

backbone = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(64, 7, strides=2, activation="relu"),
        keras.layers.AveragePooling2D(9),
        keras.layers.Flatten(),
    ],
    name="backbone",
)
backbone.trainable = False

inputs = keras.Input((SIZE, SIZE, 1))
h = backbone(inputs, training=False)
h = keras.layers.Lambda(lambda v: tf.math.l2_normalize(v, axis=-1))(h)
logits = keras.layers.Dense(WEAVES, kernel_initializer="zeros", name="head")(h)
model = keras.Model(inputs, logits)
steps = EPOCHS * (len(x) // 100)
model.compile(
    optimizer=keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(10.0, steps), momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x,
    y,
    batch_size=100,
    epochs=EPOCHS,
    verbose=2,
)

print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))
