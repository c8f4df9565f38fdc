"""Peat depth from a radar trace: large batches gathered from small ones, as the card at the field station is small."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 64
t = np.arange(LENGTH)


def make(n):
    depth = rng.uniform(0.5, 5.0, n)
    speed = rng.normal(1.0, 0.05, n)
    arrival = 8 + 10 * depth * speed
    wave = np.exp(-(((t - arrival[:, None]) / 2.0) ** 2)) * np.cos((t - arrival[:, None]) * 1.3)
    ghost = rng.uniform(5, 60, (n, 1))
    wave += 0.35 * np.exp(-(((t - ghost) / 2.0) ** 2))
    x = wave * rng.uniform(0.6, 1.4, (n, 1)) + rng.normal(scale=0.08, size=(n, LENGTH))
    return x[..., None].astype("float32"), depth[:, None].astype("float32")


class Accumulating(keras.Model):
    """Applies the mean gradient of `every` consecutive batches."""

    def __init__(self, *args, every=4, **kwargs):
        super().__init__(*args, **kwargs)
        self.every = every
        self.counter = tf.Variable(0, dtype=tf.int32, trainable=False)
        self.sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        for total, g in zip(self.sums, grads):
            total.assign_add(g / self.every)
        self.counter.assign_add(1)
        tf.cond(tf.equal(self.counter % self.every, 0), self.apply_sums, lambda: None)
        return self.compute_metrics(x, y, pred)

    def apply_sums(self):
        self.optimizer.apply_gradients(
            [(tf.identity(total), v) for total, v in zip(self.sums, self.trainable_variables)]
        )


x_train, y_train = make(6000)
x_test, y_test = make(1500)

inputs = keras.Input((LENGTH, 1))
h = layers.Conv1D(16, 7, strides=2, padding="same", activation="relu")(inputs)
h = layers.Conv1D(24, 5, strides=2, padding="same", activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(48, activation="relu")(h)
out = layers.Dense(1)(h)
model = Accumulating(inputs, out, every=4, name="peat")
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0)
print("SCORE test_r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
