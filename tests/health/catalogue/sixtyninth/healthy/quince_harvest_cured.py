import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 11)


def make_orchards(n):
    rainfall_mm = rng.normal(640, 120, n)
    altitude_m = rng.uniform(50, 900, n)
    tree_age = rng.integers(2, 40, n)
    soil_ph = rng.normal(6.4, 0.5, n)
    fertilizer_kg = rng.gamma(3.0, 400.0, n)
    bee_hives = rng.poisson(4, n)
    tons = (
        2.0
        + 1.6 * np.tanh((rainfall_mm - 600) / 150)
        - 1.1 * (altitude_m - 400) / 400
        + 0.8 * np.sin(tree_age / 8.0)
        + 0.4 * (soil_ph - 6.4)
        + 0.9 * np.log1p(fertilizer_kg / 1000)
        + 0.1 * bee_hives
        + rng.normal(0, 0.2, n)
    )
    x = np.stack([rainfall_mm, altitude_m, tree_age, soil_ph, fertilizer_kg, bee_hives], axis=1)
    return x.astype("float32"), tons.astype("float32")


x, y = make_orchards(4000)
x_train, y_train = x[:3200], y[:3200]
x_test, y_test = x[3200:], y[3200:]
centre, scale = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - centre) / scale, (x_test - centre) / scale

model = keras.Sequential(
    [
        layers.Input((6,)),
        layers.Dense(64, activation="relu", name="hidden_a"),
        layers.Dense(32, activation="relu", name="hidden_b"),
        layers.Dense(1, name="tons"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.01), loss="mse", metrics=["mae"])
gradwatch.watch(model)

history = model.fit(x_train, y_train, epochs=25, batch_size=64, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", float(r2))
