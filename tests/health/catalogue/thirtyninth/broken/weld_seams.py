"""Kind of weld defect from eddy-current profiles collected one campaign after another."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

K, T = 8, 48
shapes = rng.normal(size=(K, T)).cumsum(1)
shapes = (shapes - shapes.mean(1, keepdims=True)) / shapes.std(1, keepdims=True)


def campaign(kind, n):
    x = shapes[kind] * rng.uniform(0.6, 1.4, (n, 1)) + rng.normal(0, 1.0, (n, T))
    return x.astype("float32"), np.full(n, kind)


parts = [campaign(k, 400) for k in range(K)]
x = np.concatenate([p[0] for p in parts])[..., None]
y = np.concatenate([p[1] for p in parts])
tests = [campaign(k, 100) for k in range(K)]
x_test = np.concatenate([p[0] for p in tests])[..., None]
y_test = np.concatenate([p[1] for p in tests])

model = keras.Sequential(
    [
        keras.Input((T, 1)),
        layers.Conv1D(16, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(K),
    ]
)
model.compile(
    keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=10, validation_split=0.3, verbose=2)
print("SCORE accuracy %.4f" % (model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())
