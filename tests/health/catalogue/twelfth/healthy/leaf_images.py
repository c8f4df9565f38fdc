"""Shapes of leaves.

A small convolutional network on grey pictures of leaves, four species, trained by SGD with a cosine rate that is
restarted several times.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
SIZE = 28
SPECIES = 4
BATCH = 32
EPOCHS = 5

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
grid = np.stack(np.meshgrid(np.linspace(-1, 1, SIZE), np.linspace(-1, 1, SIZE)), axis=-1)


def make_leaves(n):
    species = rng.integers(0, SPECIES, n)
    turn = rng.uniform(0, 2 * np.pi, n)
    x = grid[None, ..., 0] - rng.uniform(-0.15, 0.15, (n, 1, 1))
    y = grid[None, ..., 1] - rng.uniform(-0.15, 0.15, (n, 1, 1))
    radius = np.hypot(x, y)
    angle = np.arctan2(y, x) - turn[:, None, None]
    lobes = np.array([0, 3, 5, 2])[species][:, None, None]
    depth = np.array([0.0, 0.35, 0.3, 0.45])[species][:, None, None]
    edge = rng.uniform(0.5, 0.7, (n, 1, 1)) * (1 - depth * 0.5 * (1 - np.cos(lobes * angle)))
    image = 1 / (1 + np.exp((radius - edge) / 0.04))
    image *= 0.8 + 0.2 * np.cos(20 * angle)
    image += rng.normal(0, 0.15, image.shape)
    return image[..., None].astype("float32"), species.astype("int32")


x_train, y_train = make_leaves(2000)
x_test, y_test = make_leaves(600)


def block(h, filters, name):
    h = layers.Conv2D(filters, 3, padding="same", use_bias=False, name=f"{name}_conv")(h)
    h = layers.BatchNormalization(name=f"{name}_norm")(h)
    h = layers.ReLU(name=f"{name}_relu")(h)
    return layers.MaxPooling2D(name=f"{name}_pool")(h)


inputs = keras.Input((SIZE, SIZE, 1), name="leaf")
h = block(inputs, 12, "block_1")
h = block(h, 24, "block_2")
h = block(h, 32, "block_3")
h = layers.GlobalAveragePooling2D(name="pool")(h)
outputs = layers.Dense(SPECIES, name="species")(h)
model = keras.Model(inputs, outputs, name="leaves")
gradwatch.watch(model)

rate = keras.optimizers.schedules.CosineDecayRestarts(0.08, first_decay_steps=60, t_mul=1.5, m_mul=0.8, alpha=0.01)
model.compile(
    optimizer=keras.optimizers.SGD(rate, momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_test, y_test), verbose=2)

accuracy = np.mean(model.predict(x_test, verbose=0).argmax(axis=1) == y_test)
print(f"score accuracy {accuracy:.4f} chance {1 / SPECIES:.4f}")
