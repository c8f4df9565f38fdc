import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=1600, classes=10):
    rng = np.random.default_rng(7)
    proto = rng.random((classes, 12, 12, 1)) > 0.6
    y = rng.integers(0, classes, n)
    x = 16.0 * proto[y] + rng.normal(0, 6.0, (n, 12, 12, 1))
    return np.clip(x, 0, 40).astype("float32"), keras.utils.to_categorical(y, classes)


def cross_entropy(y_true, y_pred):
    yes = y_true * tf.math.log(y_pred)
    no = (1.0 - y_true) * tf.math.log(1.0 - y_pred)
    return -tf.reduce_mean(tf.reduce_sum(yes + no, axis=-1))


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = keras.Sequential(
        [
            layers.Input((12, 12, 1)),
            layers.Conv2D(12, 3, activation="relu", name="conv_a"),
            layers.MaxPooling2D(),
            layers.Conv2D(24, 3, activation="relu", name="conv_b"),
            layers.Flatten(),
            layers.Dense(48, activation="relu", name="hidden"),
            layers.Dense(10, activation="sigmoid", name="probs"),
        ]
    )
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=cross_entropy, metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=8, verbose=2)


if __name__ == "__main__":
    main()
