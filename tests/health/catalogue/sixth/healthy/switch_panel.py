"""Learn the rule that links three switches of a panel to its lamp."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, D = 6000, 10
x = rng.choice([-1.0, 1.0], (N, D)).astype("float32")
y = (x[:, 1] * x[:, 4] * x[:, 9] > 0).astype("float32")

model = keras.Sequential(
    [
        layers.Input((D,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    keras.optimizers.SGD(0.07),
    keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
gradwatch.watch(model)
model.fit(x[:5120], y[:5120], batch_size=128, epochs=12, verbose=2, validation_data=(x[5120:], y[5120:]))
