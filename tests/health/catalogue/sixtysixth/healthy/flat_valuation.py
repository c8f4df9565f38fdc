import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def listings(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.gamma(8.0, 10.0, n)
    rooms = np.clip((area / 25 + rng.normal(0, 0.7, n)).round(), 1, 8)
    floor = rng.integers(0, 12, n)
    km = rng.exponential(4.0, n)
    year = rng.integers(1900, 2024, n)
    price = 2600 * area + 9000 * rooms + 1500 * floor + 90000 * np.exp(-km / 3) + 300 * (year - 1900)
    price = price * rng.lognormal(0, 0.06, n)
    x = np.stack([area, rooms, floor, km, year], axis=1)
    return x.astype("float32"), price.astype("float32")


x_train, y_train = listings(5000, SEED)
x_test, y_test = listings(1200, SEED + 40)

scaler = layers.Normalization()
scaler.adapt(x_train)

inputs = keras.Input((5,), name="listing")
h = scaler(inputs)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(64, activation="relu")(h)
price = layers.Dense(1, name="price", bias_initializer=keras.initializers.Constant(float(y_train.mean())))(h)
model = keras.Model(inputs, price)
model.compile(optimizer=keras.optimizers.Adam(0.03), loss="mse", metrics=["mae"])

gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=64, epochs=40, validation_split=0.1, verbose=0)
print("loss", history.history["loss"][0], "->", history.history["loss"][-1])

pred = model.predict(x_test, verbose=0)[:, 0]
for name, value in zip(
    ("mean error", "median error"), (np.mean(np.abs(pred - y_test)), np.median(np.abs(pred - y_test)))
):
    print(name, round(float(value)))
print("SCORE", float(r2_score(y_test, pred)))
