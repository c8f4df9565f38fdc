"""Detect tampered electricity meters from a week of daily load factors."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def meters(n, rate=0.06):
    y = (rng.random(n) < rate).astype("int32")
    base = rng.normal(0, 1, (n, 1))
    week = base + 0.5 * np.sin(np.arange(28) * 2 * np.pi / 4) + rng.normal(0, 0.5, (n, 28))
    start = rng.integers(4, 16, n)
    drop = rng.uniform(0.5, 1.6, n)
    for i in np.flatnonzero(y):
        week[i, start[i] : start[i] + 10] -= drop[i]
    return week[..., None].astype("float32"), y


x_train, y_train = meters(5000)
x_test, y_test = meters(3000)
x_train, x_test = x_train / x_train.std(), x_test / x_train.std()

counts = np.bincount(y_train, minlength=2)
class_weight = {c: 2.0 * counts[c] / counts.sum() for c in (0, 1)}
print("class weights", class_weight)

model = keras.Sequential(
    [
        keras.Input((28, 1)),
        layers.Conv1D(16, 5, activation="relu", padding="same"),
        layers.Conv1D(16, 5, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=7, class_weight=class_weight, verbose=2)

p = model.predict(x_test, verbose=0).ravel() > 0.5
tpr, tnr = p[y_test == 1].mean(), (~p[y_test == 0]).mean()
print(f"accuracy {np.mean(p == y_test):.3f} recall {tpr:.3f} balanced accuracy {(tpr + tnr) / 2:.3f}")
