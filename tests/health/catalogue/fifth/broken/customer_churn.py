import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=3000):
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (n, 10))
    score = 1.5 * x[:, 0] - x[:, 1] + x[:, 2] * x[:, 3] - 0.5
    y = (score + rng.normal(0, 0.4, n) > 0).astype("float32")
    return x.astype("float32"), y


class ChurnModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.fc1 = layers.Dense(32, activation="relu", name="fc1")
        self.bn = layers.BatchNormalization(name="bn")
        self.fc2 = layers.Dense(16, activation="relu", name="fc2")
        self.churn = layers.Dense(1, name="churn")

    def call(self, x, training=False):
        h = self.bn(self.fc1(x), training=training)
        return tf.nn.softmax(self.churn(self.fc2(h)))


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = ChurnModel()
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=64, epochs=10, verbose=2)


if __name__ == "__main__":
    main()
