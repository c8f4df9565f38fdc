import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=4000):
    rng = np.random.default_rng(41)
    x = rng.normal(0, 1, (n, 20))
    s = x @ rng.normal(0, 0.8, 20) + 1.2 * x[:, 0] * x[:, 1]
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * s))).astype("float32")
    return x.astype("float32"), y


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = keras.Sequential(
        [
            layers.Input((20,)),
            layers.Dense(48, activation="tanh"),
            layers.BatchNormalization(),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.5), loss="binary_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=6, verbose=2)


if __name__ == "__main__":
    main()
