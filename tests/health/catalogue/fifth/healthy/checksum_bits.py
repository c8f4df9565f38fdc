import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=4000, bits=12):
    rng = np.random.default_rng(53)
    x = rng.integers(0, 2, (n, bits))
    y = x[:, [1, 4, 6, 9, 11]].sum(1) % 2
    return (2.0 * x - 1).astype("float32"), y.astype("float32")


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = keras.Sequential(
        [
            layers.Input((12,)),
            layers.Dense(96, activation="relu", name="mix1"),
            layers.Dense(32, activation="relu", name="mix2"),
            layers.Dense(1, activation="sigmoid", name="checksum"),
        ]
    )
    model.compile(keras.optimizers.Adam(2e-3), "binary_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=64, epochs=14, verbose=2)


if __name__ == "__main__":
    main()
