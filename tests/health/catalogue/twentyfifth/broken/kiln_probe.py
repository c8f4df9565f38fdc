"""Temperature at an asked position of a brick kiln from a set of thermocouples pulled in any order."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PROBES = 12


def make(n):
    place = rng.uniform(0, 1, size=(n, PROBES, 1))
    heat = rng.normal(size=(n, PROBES, 1))
    asked = rng.integers(0, PROBES, n)
    rows = np.arange(n)
    position = place[rows, asked] + rng.normal(scale=0.002, size=(n, 1))
    gap = (place[:, :, 0] - position) / 0.06
    weight = np.exp(-0.5 * gap**2)
    y = (weight * heat[:, :, 0]).sum(1) / weight.sum(1)
    x = np.concatenate([place, heat], axis=-1)
    return x.astype("float32"), position.astype("float32"), y.astype("float32")


x_train, q_train, y_train = make(16000)
x_test, q_test, y_test = make(2000)


class Pointer(layers.Layer):
    """Weighs the probes by how well their key answers the query."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.key = keras.Sequential([layers.Dense(units, activation="relu"), layers.Dense(units)])
        self.query = keras.Sequential([layers.Dense(units, activation="relu"), layers.Dense(units)])
        self.value = layers.Dense(units)
        self.score = keras.Sequential([layers.Dense(units, activation="relu"), layers.Dense(1)])

    def call(self, probes, position):
        place = probes[:, :, :1]
        joined = self.key(place) + self.query(position)[:, None, :]
        score = self.score(joined)
        weights = tf.nn.softmax(score)
        return tf.reduce_sum(weights * self.value(probes), axis=1)


probes_in = keras.Input((PROBES, 2))
position_in = keras.Input((1,))
h = Pointer(48)(probes_in, position_in)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(1)(h)
model = keras.Model([probes_in, position_in], out, name="kiln")
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def step(x, q, y):
    with tf.GradientTape() as tape:
        pred = tf.squeeze(model([x, q], training=True), axis=1)
        loss = tf.reduce_mean(tf.square(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


train = tf.data.Dataset.from_tensor_slices((x_train, q_train, y_train)).shuffle(16000, seed=seed).batch(128)
for epoch in range(10):
    losses = [float(step(*batch)) for batch in train]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

pred = model.predict([x_test, q_test], verbose=0)[:, 0]
print("SCORE test_r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
