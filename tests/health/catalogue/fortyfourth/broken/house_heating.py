"""Trains a regression of the yearly heating demand of dwellings."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 40)

COLUMNS = ["floor_area", "built", "u_value", "glazing", "occupants", "degree_days", "setpoint"]


def survey(n):
    area = rng.gamma(6, 20, n) + 30
    built = rng.integers(1890, 2022, n).astype(float)
    u_value = np.clip(1.6 - 0.011 * (built - 1900) + rng.normal(0, 0.2, n), 0.12, 2.5)
    glazing = rng.beta(3, 9, n)
    occupants = rng.integers(1, 7, n).astype(float)
    degree_days = rng.normal(2800, 450, n)
    setpoint = rng.normal(20.5, 1.2, n)
    envelope = area * (0.9 * u_value * (1 - glazing) + 2.4 * glazing)
    sealed = np.where(built > 1995, 0.5, 1.0)
    demand = 0.024 * degree_days * envelope * (1 + 0.09 * (setpoint - 20.5)) * 0.8
    demand += 0.018 * degree_days * area * sealed * 0.5 - 350 * occupants
    demand = np.maximum(demand, 500) * np.exp(rng.normal(0, 0.04, n))
    table = np.stack([area, built, u_value, glazing, occupants, degree_days, setpoint], axis=1)
    return table, np.log(demand)


class Table:
    """Splits the survey and keeps the statistics of the training part."""

    def __init__(self, features, target, split):
        self.raw = features[:split].astype("float32")
        self.mean, self.std = features[:split].mean(0), features[:split].std(0)
        self.centre, self.scale = target[:split].mean(), target[:split].std()
        self.train = (self.prepare(features[:split]), self.label(target[:split]))
        self.test = (self.prepare(features[split:]), self.label(target[split:]))

    def prepare(self, features):
        return ((features - self.mean) / self.std).astype("float32")

    def label(self, target):
        return ((target - self.centre) / self.scale).astype("float32")[:, None]


def build(table):
    scale = keras.layers.Normalization(name="scale")
    scale.adapt(table.raw)
    house = keras.Input((len(COLUMNS),), name="house")
    h = scale(house)
    for width in (64, 64, 32):
        h = keras.layers.Dense(width, activation="relu")(h)
    return keras.Model(house, keras.layers.Dense(1)(h), name="heating")


features, target = survey(7000)
table = Table(features, target, 6000)
model = build(table)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(*table.train, batch_size=64, epochs=20, validation_split=0.1, verbose=2)

x_test, y_test = table.test
predicted = model.predict(x_test, verbose=0)
print("SCORE r2", float(1 - np.mean((predicted - y_test) ** 2) / y_test.var()))
