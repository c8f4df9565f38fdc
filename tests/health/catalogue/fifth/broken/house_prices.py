import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=1500):
    rng = np.random.default_rng(2)
    area = rng.normal(120, 35, n)
    rooms = rng.integers(1, 7, n)
    age = rng.uniform(0, 90, n)
    dist = rng.exponential(8, n)
    price = 1800 * area + 9000 * rooms - 700 * age - 2500 * dist + 60000 + rng.normal(0, 15000, n)
    x = np.stack([area, rooms, age, dist], 1)
    x = (x - x.mean(0)) / x.std(0)
    return x.astype("float32"), price.astype("float32")


def main():
    keras.utils.set_random_seed(SEED)
    x, price = load()
    y = price / 1000.0
    model = keras.Sequential(
        [
            layers.Input((4,)),
            layers.Dense(64, activation="relu", name="d1"),
            layers.Dense(64, activation="relu", name="d2"),
            layers.Dense(32, activation="relu", name="d3"),
            layers.Dense(1, name="price"),
        ]
    )
    model.compile(optimizer=keras.optimizers.SGD(0.01, momentum=0.9), loss="mse")
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=10, verbose=2)


if __name__ == "__main__":
    main()
