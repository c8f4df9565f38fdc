"""Adapts a texture network, trained on plenty of source images, to a small new set by a frozen trunk and a zero-started adapter."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 24
axis = np.arange(SIZE)
gx, gy = np.meshgrid(axis, axis)


def make_textures(n, angles, freq):
    y = rng.integers(0, len(angles), n)
    x = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i, k in enumerate(y):
        a = np.deg2rad(angles[k] + rng.normal(0, 4))
        wave = np.sin(freq * (gx * np.cos(a) + gy * np.sin(a)) + rng.uniform(0, 6.3))
        x[i, :, :, 0] = wave + 0.8 * rng.normal(size=gx.shape)
    return x, y


x_source, y_source = make_textures(1600, [0, 30, 60, 90, 120, 150], 1.1)
x_train, y_train = make_textures(400, [15, 60, 105, 150], 0.9)
x_test, y_test = make_textures(400, [15, 60, 105, 150], 0.9)

trunk = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 5, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
    ]
)
source = keras.Sequential([trunk, layers.Dense(6)])
source.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
source.fit(x_source, y_source, batch_size=64, epochs=8, verbose=2)

trunk.trainable = False
inputs = layers.Input((SIZE, SIZE, 1))
h = trunk(inputs, training=False)
h = layers.LayerNormalization()(h)
a = layers.Dense(8, activation="gelu", name="adapter_down")(h)
a = layers.Dense(24, kernel_initializer="zeros", name="adapter_up")(a)
h = layers.Add()([h, a])
out = layers.Dense(4, kernel_initializer="zeros", name="head")(h)
model = keras.Model(inputs, out)
steps = 25 * 24
schedule = keras.optimizers.schedules.CosineDecay(0.0, decay_steps=steps - 100, warmup_target=3e-3, warmup_steps=100)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=16, epochs=24, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))
