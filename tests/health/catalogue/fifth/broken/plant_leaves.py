import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2000, species=8):
    rng = np.random.default_rng(27)
    base = rng.integers(30, 226, (species, 10, 10, 3))
    y = rng.integers(0, species, n)
    x = np.clip(base[y] * 0.4 + 75 + rng.normal(0, 55, (n, 10, 10, 3)), 0, 255)
    return x.astype("uint8"), y


def main():
    keras.utils.set_random_seed(SEED)
    images, y = load()
    x = images.astype("float32")
    model = keras.Sequential(
        [
            layers.Input((10, 10, 3)),
            layers.Flatten(),
            layers.Dense(64, activation="tanh", name="leaf1"),
            layers.Dense(32, activation="tanh", name="leaf2"),
            layers.Dense(8, activation="softmax", name="species"),
        ]
    )
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "sparse_categorical_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=40, epochs=10, verbose=2)


if __name__ == "__main__":
    main()
