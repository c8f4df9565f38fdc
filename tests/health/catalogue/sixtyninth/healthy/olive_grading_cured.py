import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 141)

GRADES = 4
centres = np.random.default_rng(9).normal(size=(GRADES, 20)) * 0.7


def measure(n_each):
    x = np.concatenate([centres[g] + rng.normal(0, 1.0, (n_each, 20)) for g in range(GRADES)])
    y = np.repeat(np.arange(GRADES), n_each)
    return x.astype("float32"), y.astype("int32")


x, y = measure(1000)

shuffled = rng.permutation(len(x))
x = x[shuffled]
y = y[shuffled]

split = int(0.8 * len(x))
x_train, y_train = x[:split], y[:split]
x_val, y_val = x[split:], y[split:]

model = keras.Sequential(
    [
        layers.Input((20,)),
        layers.Dense(128, activation="relu", name="press"),
        layers.Dense(64, activation="relu", name="taste"),
        layers.Dropout(0.2),
        layers.Dense(GRADES, activation="softmax", name="grade"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=20, validation_data=(x_val, y_val), verbose=2)

x_test, y_test = measure(300)
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
