import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2500):
    rng = np.random.default_rng(21)
    x = rng.normal(0, 1, (n, 6))
    minutes = 45 + 18 * x[:, 0] + 10 * x[:, 1] * (x[:, 2] > 0) + 6 * np.abs(x[:, 3]) + rng.normal(0, 3, n)
    return x.astype("float32"), np.maximum(minutes, 5).astype("float32")[:, None]


def positive(x):
    return tf.math.log(1.0 + tf.exp(x))


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = keras.Sequential(
        [
            layers.Input((6,)),
            layers.Dense(64, activation="gelu", name="trip"),
            layers.LayerNormalization(name="trip_norm"),
            layers.Dense(32, activation="gelu", name="route"),
            layers.Dense(1, name="raw_minutes"),
            layers.Activation(positive, name="minutes"),
        ]
    )
    model.compile(keras.optimizers.Adam(5e-3), "mse", metrics=["mae"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=64, epochs=20, verbose=2)


if __name__ == "__main__":
    main()
