import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def claims(n, seed, storms=True):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 8)).astype("float32")
    y = 1.5 * x[:, 0] - x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) + 0.5 * np.abs(x[:, 4])
    y = y + 0.2 * rng.normal(size=n)
    if storms:
        storm = rng.uniform(size=n) < 0.01
        y[storm] += 400.0 * rng.pareto(2.0, int(storm.sum()))
    return x, y.astype("float32")


def describe(name, y):
    print(name, "median", float(np.median(y)), "largest", float(y.max()))


x_train, y_train = claims(6000, SEED)
x_test, y_test = claims(1500, SEED + 21, storms=False)

inputs = keras.Input((8,), name="policy")
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dense(64, activation="relu")(h)
cost = layers.Dense(1, name="cost")(h)
model = keras.Model(inputs, cost)

schedule = keras.optimizers.schedules.CosineDecayRestarts(
    initial_learning_rate=5e-3, first_decay_steps=500, t_mul=1.5, m_mul=0.8
)
model.compile(
    optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0), loss=keras.losses.Huber(delta=1.0), metrics=["mae"]
)

gradwatch.watch(model)
describe("train", y_train)
describe("test", y_test)
history = model.fit(x_train, y_train, batch_size=64, epochs=25, verbose=0)
print("loss", history.history["loss"][0], "->", history.history["loss"][-1])

pred = model.predict(x_test, verbose=0)[:, 0]
print("mean error", float(np.abs(pred - y_test).mean()))
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
