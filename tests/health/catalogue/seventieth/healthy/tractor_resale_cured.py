import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 11)

N = 3000


def make_listings(n):
    hours = rng.gamma(3.0, 1500.0, n)
    horsepower = rng.uniform(40, 320, n)
    age = rng.integers(0, 25, n).astype("float64")
    width = rng.uniform(1.6, 3.0, n)
    loader = rng.integers(0, 2, n).astype("float64")
    price = 8.0 + 0.28 * horsepower * np.exp(-age / 14.0) - 0.0011 * hours + 5.0 * loader + rng.normal(0, 1.5, n)
    x = np.stack([hours, horsepower, age, width, loader], axis=1)
    return x.astype("float32"), price.astype("float32")


x, y = make_listings(N)
cut = int(0.8 * N)
x_train, y_train = x[:cut], y[:cut]
x_test, y_test = x[cut:], y[cut:]
target_mean, target_std = y_train.mean(), y_train.std()
y_scaled = (y_train - target_mean) / target_std

x_in = (x_train - x_train.mean(axis=0)) / x_train.std(axis=0)
x_in_test = (x_test - x_train.mean(axis=0)) / x_train.std(axis=0)

model = keras.Sequential(
    [
        keras.Input((5,), name="listing"),
        keras.layers.Dense(32, activation="relu", name="fc1"),
        keras.layers.Dense(16, activation="relu", name="fc2"),
        keras.layers.Dense(1, name="price"),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01),
    loss="mse",
    metrics=["mae"],
)
gradwatch.watch(model)

history = model.fit(
    x_in,
    y_scaled,
    batch_size=32,
    epochs=15,
    verbose=0,
)
print("loss by epoch", [round(v, 3) for v in history.history["loss"][-3:]])

pred = model.predict(x_in_test, verbose=0)[:, 0] * target_std + target_mean
residual = np.mean((pred - y_test) ** 2)
print("SCORE", float(1.0 - residual / np.var(y_test)))
