import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2000, classes=10):
    rng = np.random.default_rng(23)
    proto = rng.normal(0, 1, (classes, 14, 14, 1))
    y = rng.integers(0, classes, n)
    x = proto[y] + rng.normal(0, 1.0, (n, 14, 14, 1))
    return (x / 1.5).astype("float32"), y


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    inp = keras.Input((14, 14, 1))
    h = layers.Conv2D(16, 3, activation="relu", name="c1")(inp)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(32, 3, activation="relu", name="c2")(h)
    h = layers.Flatten()(h)
    h = layers.Dense(64, activation="relu", name="fc")(h)
    out = layers.Dense(10, name="scores")(h)
    model = keras.Model(inp, out)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(x, y, batch_size=50, epochs=8, verbose=2)


if __name__ == "__main__":
    main()
