import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=3000):
    rng = np.random.default_rng(3)
    temp = rng.uniform(-5, 35, n)
    humidity = rng.uniform(20, 100, n)
    hour = rng.integers(0, 24, n)
    residents = rng.integers(2000, 60000, n)
    log_rate = 0.6 + 0.03 * temp - 0.008 * humidity + 0.8 * np.sin(hour / 24 * 2 * np.pi) + 0.00002 * residents
    count = rng.poisson(np.exp(log_rate))
    table = np.stack([temp, humidity, hour, residents], 1)
    return table, count.astype("float32")


class CountModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = layers.Dense(32, activation="relu", name="h1")
        self.h2 = layers.Dense(32, activation="relu", name="h2")
        self.log_rate = layers.Dense(1, name="log_rate")

    def call(self, x):
        return self.log_rate(self.h2(self.h1(x)))[:, 0]


def main():
    keras.utils.set_random_seed(SEED)
    table, count = load()
    mean, std = table.mean(0), table.std(0)
    x = table.astype("float32")
    data = tf.data.Dataset.from_tensor_slices((x, count)).shuffle(3000, seed=SEED).repeat().batch(64)
    model = CountModel()
    optimizer = keras.optimizers.RMSprop(2e-3)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            z = model(xb, training=True)
            loss = tf.reduce_mean(tf.exp(z) - yb * z)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    model(x[:2])
    gradwatch.watch(model)
    for i, (xb, yb) in enumerate(data.take(500)):
        loss = step(xb, yb)
        if i % 50 == 0 or i == 499:
            print("step", i, "loss", float(loss))


if __name__ == "__main__":
    main()
