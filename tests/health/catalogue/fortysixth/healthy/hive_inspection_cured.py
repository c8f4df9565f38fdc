"""Trains a convolutional network that grades the brood pattern on photographs of honeycomb."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GRADES = 4
CELLS, PIXELS = 7, 3
SIZE = CELLS * PIXELS


def comb(grade):
    """A patch of cells; worse grades have more empty and sunken cells, in clumps."""
    gaps = [0.03, 0.15, 0.32, 0.55][grade] * rng.uniform(0.75, 1.25)
    empty = rng.random((CELLS, CELLS)) < gaps
    shade = np.where(empty, rng.uniform(-1.2, -0.5, empty.shape), rng.uniform(0.5, 1.0, empty.shape))
    image = np.kron(shade, np.ones((PIXELS, PIXELS)))
    return image * rng.uniform(0.8, 1.2) + rng.normal(0, 0.25, (SIZE, SIZE))


def make_photographs(n):
    grades = rng.integers(0, GRADES, n)
    images = np.stack([comb(g) for g in grades]).astype("float32")[..., None]
    return images, grades.astype("int32")


train_x, train_y = make_photographs(6000)
test_x, test_y = make_photographs(1500)
mean, std = train_x.mean(), train_x.std()
train_x, test_x = (train_x - mean) / std, (test_x - mean) / std

KEEP = 0.9


def block(x, filters):
    x = keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    x = keras.layers.MaxPooling2D()(x)
    return keras.layers.SpatialDropout2D(1.0 - KEEP)(x)


inputs = keras.Input((SIZE, SIZE, 1))
x = block(inputs, 12)
x = block(x, 24)
x = keras.layers.GlobalAveragePooling2D()(x)
x = keras.layers.Dense(24, activation="relu")(x)
model = keras.Model(inputs, keras.layers.Dense(GRADES, activation="softmax")(x))
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(train_x, train_y, batch_size=64, epochs=8, validation_data=(test_x, test_y), verbose=2)

_, accuracy = model.evaluate(test_x, test_y, batch_size=500, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
