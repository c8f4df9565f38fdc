# Remaining strength of a loom's belt from 150 vibration readings.
import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T = 150


def readings(n):
    wear = rng.uniform(0, 1, n)
    t = np.arange(T)
    f = rng.uniform(0.25, 0.5, (n, 1))
    x = (0.4 + wear[:, None]) * np.sin(f * t + rng.uniform(0, 6, (n, 1)))
    x += 0.6 * wear[:, None] * np.sin(3.1 * f * t)
    second = rng.normal(0, 0.3, (n, T)) + 0.5 * wear[:, None] * np.cos(f * t)
    y = 1.5 - 3.0 * wear**2 + rng.normal(0, 0.1, n)
    return np.stack([x, second], -1).astype("float32"), y.astype("float32")


x_train, y_train = readings(1500)
x_test, y_test = readings(400)

model = keras.Sequential(
    [
        keras.Input((T, 2)),
        layers.SimpleRNN(64, activation="relu", recurrent_initializer=keras.initializers.RandomNormal(stddev=0.3)),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=6, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
print("R2 on unseen looms:", 1 - np.mean((pred - y_test) ** 2) / np.var(y_test))
