"""Learns which three of sixteen lock pins decide, by their parity, whether a lock opens."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PINS, N = 16, 12000
chosen = rng.choice(PINS, 3, replace=False)


def locks(n):
    x = rng.choice([-1.0, 1.0], (n, PINS))
    return x.astype("float32"), (np.prod(x[:, chosen], 1) > 0).astype("float32")


x_train, y_train = locks(N)
x_test, y_test = locks(2000)
model = keras.Sequential(
    [
        keras.Input((PINS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    keras.optimizers.SGD(0.1, momentum=0.9),
    keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=12, verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))
