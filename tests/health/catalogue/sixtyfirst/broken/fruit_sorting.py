import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, KINDS = 14, 5
colours = rng.uniform(0.2, 0.9, (KINDS, 3))


def make_fruit(n):
    kind = rng.integers(0, KINDS, n)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cx, cy = rng.uniform(5, 9, n), rng.uniform(5, 9, n)
    rx = 2.5 + 0.6 * (kind % 3) + rng.uniform(0, 0.5, n)
    ry = 2.5 + 0.6 * (kind // 2) + rng.uniform(0, 0.5, n)
    blob = ((xx[None] - cx[:, None, None]) / rx[:, None, None]) ** 2
    blob = blob + ((yy[None] - cy[:, None, None]) / ry[:, None, None]) ** 2 < 1
    image = blob[..., None] * colours[kind][:, None, None, :]
    image = image + rng.normal(0, 0.15, image.shape)
    return image.astype("float32"), kind.astype("int32")


x_train, y_train = make_fruit(2500)
x_test, y_test = make_fruit(800)

inputs = keras.Input((SIZE, SIZE, 3))
h = keras.layers.Conv2D(16, 3, activation="relu", name="peel")(inputs)
h = keras.layers.MaxPooling2D()(h)
h = keras.layers.Conv2D(24, 3, activation="relu", name="shape")(h)
h = keras.layers.Conv2D(24, 3, activation="relu", name="skin")(h)
h = keras.layers.Flatten()(h)
h = keras.layers.Dense(64, activation="relu", name="basket")(h)
h = keras.layers.Dense(48, activation="relu", name="fruit")(h)
outputs = keras.layers.Dense(KINDS, name="kind")(h)
model = keras.Model(inputs, outputs)

LEARNING_RATE = 0.1
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=LEARNING_RATE),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=50, epochs=6, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", accuracy)
