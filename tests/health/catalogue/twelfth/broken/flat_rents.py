"""Rents of flats in a town.

Rent per square metre from the position of the flat (UTM, in metres) and its properties. The inputs come as they are in
the register; a layer keeps running statistics of them and brings them to a common scale.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
BATCH = 128
STEPS = 320

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_flats(n):
    east = 565_000.0 + rng.normal(0, 1400.0, n)
    north = 5_934_000.0 + rng.normal(0, 1400.0, n)
    area = rng.gamma(7.0, 11.0, n) + 18.0
    year = rng.uniform(1890, 2020, n)
    floor = rng.integers(0, 7, n)
    centre = np.hypot(east - 565_400.0, north - 5_933_700.0) / 1000.0
    lake = np.hypot(east - 564_100.0, north - 5_935_200.0) / 1000.0
    rent = 9.0 + 6.0 * np.exp(-centre / 1.2) + 4.0 * np.exp(-((lake / 0.8) ** 2)) - 1.2 * np.log(area / 75.0)
    rent += 0.8 * ((year - 1950) / 60) ** 2 + 0.12 * floor + rng.normal(0, 0.6, n)
    return np.stack([east, north, area, year, floor], axis=1).astype("float32"), rent[:, None].astype("float32")


class RunningScale(layers.Layer):
    """Standardises with running moments, which are kept up to date in training."""

    def __init__(self, momentum=0.9, epsilon=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.momentum, self.epsilon = momentum, epsilon

    def build(self, shape):
        self.first = self.add_weight(shape=(shape[-1],), initializer="zeros", trainable=False, name="first")
        self.second = self.add_weight(shape=(shape[-1],), initializer="ones", trainable=False, name="second")

    def call(self, x, training=False):
        if training:
            self.first.assign(self.momentum * self.first + (1 - self.momentum) * tf.reduce_mean(x, axis=0))
            self.second.assign(self.momentum * self.second + (1 - self.momentum) * tf.reduce_mean(tf.square(x), axis=0))
        variance = self.second - tf.square(self.first)
        return (x - self.first) * tf.math.rsqrt(variance + self.epsilon)


x_train, y_train = make_flats(10000)
x_test, y_test = make_flats(2000)

inputs = keras.Input((5,), name="flat")
h = RunningScale(name="scale")(inputs)
h = layers.Dense(64, activation="relu", name="hidden_1")(h)
h = layers.Dense(64, activation="relu", name="hidden_2")(h)
h = layers.Dense(32, activation="relu", name="hidden_3")(h)
outputs = layers.Dense(1, bias_initializer=keras.initializers.Constant(11.0), name="rent")(h)
model = keras.Model(inputs, outputs, name="flat_rents")
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(3e-3)
huber = keras.losses.Huber(delta=2.0)
average = keras.metrics.Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = huber(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(10000, seed=SEED).repeat().batch(BATCH)
for step, (x, y) in enumerate(data.take(STEPS)):
    average.update_state(train_step(x, y))
    if (step + 1) % 40 == 0:
        print(f"step {step + 1:4d}  loss {float(average.result()):.4f}")
        average.reset_state()

predicted = np.asarray(model(x_test, training=False))
r2 = 1 - np.sum((predicted - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print(f"score R2 {r2:.4f} chance 0.0")
