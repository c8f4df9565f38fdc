import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
LENGTH = 64


def calls(rng, n, freqs):
    t = np.arange(LENGTH)
    y = rng.integers(0, len(freqs), n)
    x = np.sin(np.asarray(freqs)[y][:, None] * t + rng.uniform(0, 6.28, (n, 1)))
    x = x * rng.uniform(0.7, 1.3, (n, 1)) + rng.normal(0, 0.3, x.shape)
    return x[..., None].astype("float32"), y


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(51)
    backbone = keras.Sequential(
        [
            layers.Input((LENGTH, 1)),
            layers.Conv1D(16, 9, activation="relu", name="conv1"),
            layers.MaxPooling1D(2),
            layers.Conv1D(32, 5, name="conv2"),
            layers.BatchNormalization(name="bn"),
            layers.ReLU(),
            layers.GlobalAveragePooling1D(),
        ],
        name="backbone",
    )
    common = keras.Sequential([backbone, layers.Dense(6, activation="softmax", name="common_head")])
    common.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = calls(rng, 2400, [0.2, 0.45, 0.7, 1.0, 1.4, 1.9])
    common.fit(x, y, batch_size=40, epochs=5, verbose=2)

    backbone.trainable = False
    inp = keras.Input((LENGTH, 1))
    h = backbone(inp, training=False)
    h = layers.Dense(32, activation="relu", name="rare_hidden")(h)
    rare = keras.Model(inp, layers.Dense(3, activation="softmax", name="rare_head")(h))
    rare.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = calls(rng, 800, [0.3, 0.85, 1.6])
    gradwatch.watch(rare)
    rare.fit(x, y, batch_size=20, epochs=8, verbose=2)


if __name__ == "__main__":
    main()
