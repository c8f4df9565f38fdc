"""Fine-tunes a small texture network to grade welds: trained on four stock surfaces first, then on welds."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIZE = 20


def texture(n, angles, frequencies, kinds):
    kind = rng.integers(0, kinds, n)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    a = np.array(angles)[kind][:, None, None] + 0.12 * rng.standard_normal((n, 1, 1))
    f = np.array(frequencies)[kind][:, None, None] * rng.uniform(0.9, 1.1, (n, 1, 1))
    wave = np.sin(2 * np.pi * f * (xx * np.cos(a) + yy * np.sin(a)) + rng.uniform(0, 2 * np.pi, (n, 1, 1)))
    image = wave * rng.uniform(0.6, 1.2, (n, 1, 1)) + 0.6 * rng.standard_normal((n, SIZE, SIZE))
    return image[..., None].astype("float32"), kind.astype("int32")


stock_x, stock_y = texture(2500, [0.0, 0.8, 1.6, 2.4], [0.12, 0.2, 0.16, 0.25], 4)
weld_x, weld_y = texture(3000, [0.4, 1.2, 2.0], [0.15, 0.22, 0.18], 3)
test_x, test_y = texture(600, [0.4, 1.2, 2.0], [0.15, 0.22, 0.18], 3)

backbone = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 5, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Conv2D(32, 3, strides=2, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
    ],
    name="backbone",
)
image = keras.Input((SIZE, SIZE, 1))
stock_model = keras.Model(image, layers.Dense(4, name="surface")(backbone(image)))
features = backbone(image, training=False)
model = keras.Model(image, layers.Dense(3, name="grade")(features), name="weld_grader")
gradwatch.watch(model)

loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
stock_model.compile(keras.optimizers.Adam(3e-3), loss, metrics=["accuracy"])
stock_model.fit(stock_x, stock_y, batch_size=50, epochs=2, verbose=2)

model.compile(keras.optimizers.Adam(3e-4), loss, metrics=["accuracy"])
model.fit(weld_x, weld_y, batch_size=50, epochs=5, verbose=2)
_, accuracy = model.evaluate(test_x, test_y, verbose=0)
print(f"score accuracy {accuracy:.4f} chance 0.3333")
