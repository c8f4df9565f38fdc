"""Finds rare faults on a production line (about one part in a hundred) with a focal loss and a residual network that starts as the identity."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEAT = 24
w1, w2 = rng.normal(0, 1, FEAT), rng.normal(0, 1, FEAT)


def make(n):
    x = rng.normal(0, 1, (n, FEAT))
    s = (x @ w1) / np.sqrt(FEAT) + 0.6 * np.abs(x @ w2) / np.sqrt(FEAT)
    return x.astype("float32"), (s > 2.55).astype("float32")[:, None]


x_train, y_train = make(24000)
x_test, y_test = make(8000)
rate = float(y_train.mean())

inp = keras.Input((FEAT,))
h = layers.Dense(48)(inp)
for _ in range(3):
    r = layers.Dense(48, activation="swish")(h)
    h = h + layers.Dense(48, kernel_initializer="zeros")(r)
out = layers.Dense(
    1,
    activation="sigmoid",
    kernel_initializer=keras.initializers.RandomNormal(0, 0.01),
    bias_initializer=keras.initializers.Constant(float(np.log(rate / (1 - rate)))),
)(h)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0, apply_class_balancing=True, alpha=0.75),
    metrics=[keras.metrics.AUC(name="auc", curve="PR")],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=5, verbose=2)

print("SCORE average_precision", round(float(model.evaluate(x_test, y_test, batch_size=256, verbose=0)[1]), 4))
