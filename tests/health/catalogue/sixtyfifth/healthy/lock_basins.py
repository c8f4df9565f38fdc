import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 5000
width = rng.uniform(5, 16, n)
length = rng.uniform(40, 220, n)
drop = rng.uniform(1, 14, n)
traffic = rng.poisson(30, n).astype(float)
cost = 400.0 * width * length**0.5 * drop**0.7 + 900.0 * traffic + rng.normal(0, 3000, n)

x = np.stack([width, length, drop, traffic], axis=1).astype("float32")
y = cost.astype("float32")[:, None]
x_train, x_test = x[:4000], x[4000:]
y_train, y_test = y[:4000], y[4000:]

scale = keras.layers.Normalization()
scale.adapt(x_train)

inp = keras.Input((4,))
h = scale(inp)
h = keras.layers.Dense(64, activation="relu", name="basin_one")(h)
h = keras.layers.Dense(64, activation="relu", name="basin_two")(h)
h = keras.layers.Dense(1, name="cost", bias_initializer=keras.initializers.Constant(float(y_train.mean())))(h)
model = keras.Model(inp, h)
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=32,
    epochs=25,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
order = np.argsort(y_test[:, 0])
for quarter, rows in enumerate(np.array_split(order, 4)):
    error = np.abs(pred[rows] - y_test[rows]).mean()
    print("quarter", quarter, "mean cost", round(float(y_test[rows].mean())), "error", round(float(error)))
print("SCORE", 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test))
