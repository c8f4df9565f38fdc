"""Minutes from kitchen ticket to pass, from the dishes on the ticket and how busy the line is."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MENU, LONGEST = 60, 8
base = rng.gamma(4.0, 2.0, MENU + 1)
base[0] = 0.0


def evenings(n):
    dishes = np.zeros((n, LONGEST), "int32")
    count = np.minimum(rng.poisson(3.5, n) + 1, LONGEST)
    count[rng.random(n) < 0.001] = 0
    for i, k in enumerate(count):
        dishes[i, :k] = rng.integers(1, MENU + 1, k)
    busy = rng.random(n)
    mean_time = base[dishes].sum(1) / np.maximum(count, 1)
    minutes = 2.0 + mean_time * (1.0 + 0.8 * busy) + rng.normal(0, 0.5, n)
    return dishes, busy.astype("float32")[:, None], minutes.astype("float32")


class TicketMean(layers.Layer):
    """Mean of the dish vectors on a ticket; slots with dish 0 are empty."""

    def __init__(self, menu, dim, **kw):
        super().__init__(**kw)
        self.table = layers.Embedding(menu + 1, dim)

    def build(self, shape):
        self.table.build(shape)
        super().build(shape)

    def call(self, dishes):
        there = tf.cast(dishes > 0, tf.float32)[..., None]
        vectors = self.table(dishes) * there
        size = tf.reduce_sum(there, axis=1)
        mean = tf.reduce_sum(vectors, axis=1) / size
        return tf.where(size > 0, mean, tf.zeros_like(mean))


dishes, busy, minutes = evenings(24000)
dishes_t, busy_t, minutes_t = evenings(3000)
m, s = minutes.mean(), minutes.std()

ticket = keras.Input((LONGEST,), dtype="int32", name="ticket")
line = keras.Input((1,), name="busy")
h = TicketMean(MENU, 16)(ticket)
h = layers.Concatenate()([h, line])
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model([ticket, line], layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    [dishes, busy],
    (minutes - m) / s,
    batch_size=128,
    epochs=14,
    validation_data=([dishes_t, busy_t], (minutes_t - m) / s),
    verbose=2,
)

pred = model.predict([dishes_t, busy_t], batch_size=500, verbose=0)[:, 0] * s + m
print("SCORE mae_minutes", round(float(np.mean(np.abs(pred - minutes_t))), 4))
