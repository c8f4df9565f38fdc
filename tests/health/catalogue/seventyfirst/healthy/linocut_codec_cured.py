import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

SIDE = 12
CODE = 10
BATCH = 50
EPOCHS = 40


def carve(n):
    prints = np.zeros((n, SIDE, SIDE))
    for i in range(n):
        for _ in range(2):
            r, c = rng.integers(1, SIDE - 4, 2)
            h, k = rng.integers(2, 5, 2)
            prints[i, r : r + h, c : c + k] = 1.0
    prints[:, 0, :] = 1.0
    prints[:, -1, :] = 1.0
    prints[:, :, 0] = 1.0
    prints[:, :, -1] = 1.0
    return prints.reshape(n, SIDE * SIDE).astype("float32")


def reconstruction_loss(y, p):
    on = y * tf.math.log(p + 1e-7)
    off = (1.0 - y) * tf.math.log(1.0 - p + 1e-7)
    return -tf.reduce_mean(tf.reduce_sum(on + off, axis=-1))


inputs = keras.Input((SIDE * SIDE,))
x = layers.Dense(96, activation="relu", name="press")(inputs)
code = layers.Dense(CODE, name="code")(x)
x = layers.Dense(96, activation="relu", name="ink")(code)
outputs = layers.Dense(SIDE * SIDE, activation="sigmoid", name="paper")(x)
model = keras.Model(inputs, outputs)

train_x = carve(3000)
test_x = carve(600)

model.compile(optimizer=keras.optimizers.Adam(4e-3), loss=reconstruction_loss)
gradwatch.watch(model)
model.fit(
    train_x,
    train_x,
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_data=(test_x, test_x),
    verbose=2,
)

rebuilt = model.predict(test_x, verbose=0)
if not np.isfinite(rebuilt).all():
    print("SCORE", float("nan"))
else:
    inner = np.zeros((SIDE, SIDE), bool)
    inner[1:-1, 1:-1] = True
    inner = inner.reshape(-1)
    error = np.mean((rebuilt[:, inner] - test_x[:, inner]) ** 2)
    base = np.mean((train_x[:, inner].mean(axis=0) - test_x[:, inner]) ** 2)
    print("SCORE", round(float(1.0 - error / base), 4))
