"""Where is the ball? A small convolutional heat-map network for crops of a football pitch."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, CELLS = 24, 12


def frames(n):
    img = rng.normal(0.0, 0.25, (n, SIZE, SIZE)) + rng.normal(0, 0.2, (n, 1, 1))
    rows, cols = np.mgrid[0:SIZE, 0:SIZE]
    line = rng.integers(0, SIZE, n)
    img[np.arange(n), :, line] += 1.2
    for _ in range(3):
        r, c = rng.integers(3, SIZE - 3, (2, n))
        tall = (np.abs(rows - r[:, None, None]) <= 3) & (np.abs(cols - c[:, None, None]) <= 1)
        img += 1.2 * tall
    r, c = rng.integers(1, SIZE - 1, (2, n))
    ball = ((rows - r[:, None, None]) ** 2 + (cols - c[:, None, None]) ** 2) <= 1
    img += 1.6 * ball
    heat = np.zeros((n, CELLS, CELLS), "float32")
    heat[np.arange(n), r // 2, c // 2] = 1.0
    return img[..., None].astype("float32"), heat[..., None]


def prior_bias(share):
    return keras.initializers.Constant(float(np.log(share / (1 - share))))


def conv(filters, x, stride=1, activation="relu", bias="zeros"):
    return layers.Conv2D(
        filters,
        3,
        strides=stride,
        padding="same",
        activation=activation,
        bias_initializer=bias,
    )(x)


x, y = frames(5000)
x_test, y_test = frames(800)
rare = prior_bias(1.0 / CELLS**2)

inputs = keras.Input((SIZE, SIZE, 1))
h = conv(12, inputs)
h = conv(16, h, stride=2)
h = conv(16, h)
heat = conv(1, h, activation="sigmoid", bias=rare)
model = keras.Model(inputs, heat, name="ball_heat")
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=1.0),
)
gradwatch.watch(model)

model.fit(x, y, batch_size=64, epochs=7, verbose=2)

pred = model.predict(x_test, batch_size=100, verbose=0).reshape(len(x_test), -1)
hit = pred.argmax(1) == y_test.reshape(len(x_test), -1).argmax(1)
print("SCORE ball_hit_rate", round(float(hit.mean()), 4))
