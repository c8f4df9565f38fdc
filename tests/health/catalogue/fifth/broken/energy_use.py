import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2500):
    rng = np.random.default_rng(6)
    x = rng.normal(0, 1, (n, 8))
    y = np.sin(2 * x[:, 0]) + 0.8 * x[:, 1] * x[:, 2] + 0.5 * x[:, 3] + rng.normal(0, 0.1, n)
    y = (y - y.mean()) / y.std()
    return x.astype("float32"), y.astype("float32")[:, None]


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = keras.Sequential([layers.Input((8,))])
    for i in range(5):
        model.add(layers.Dense(64, activation="relu", kernel_initializer="he_normal", name=f"block{i}"))
    model.add(layers.Dense(1, name="load"))
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.1), loss="mse")
    gradwatch.watch(model)
    model.fit(x, y, batch_size=50, epochs=12, verbose=2)


if __name__ == "__main__":
    main()
