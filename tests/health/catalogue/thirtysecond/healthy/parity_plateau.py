"""Learns a check bit of a 20-bit telegram, which is the parity of three of its bits, from noisy readings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BITS, CHECK = 20, [3, 8, 14]


def telegrams(n):
    bits = rng.integers(0, 2, (n, BITS))
    y = bits[:, CHECK].sum(axis=1) % 2
    return (2.0 * bits - 1 + rng.normal(0, 0.1, bits.shape)).astype("float32"), y.astype("float32")


x_train, y_train = telegrams(20000)
x_test, y_test = telegrams(2000)
flip = rng.random(len(y_train)) < 0.03
y_train = np.where(flip, 1 - y_train, y_train)

model = keras.Sequential(
    [
        keras.Input((BITS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(0.02, momentum=0.9),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=4, verbose=2)

pred = model.predict(x_test, batch_size=500, verbose=0)[:, 0] > 0
print("SCORE accuracy", round(float(np.mean(pred == (y_test > 0.5))), 4))
