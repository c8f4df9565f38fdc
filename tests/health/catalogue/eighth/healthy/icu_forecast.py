"""One-step-ahead forecast of ICU vital signs; stays have different lengths and gaps."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

HOURS, SIGNS, BATCH = 100, 4, 16


def stays(n):
    x = np.full((n, HOURS + 1, SIGNS), np.nan, "float32")
    length = rng.integers(45, HOURS + 2, n)
    for k in range(n):
        period = rng.uniform(16, 28, SIGNS)
        phase = rng.uniform(0, 2 * np.pi, SIGNS)
        level = rng.normal(0, 0.7, SIGNS)
        t = np.arange(length[k])[:, None]
        wave = level + 1.0 * np.sin(2 * np.pi * t / period + phase)
        shock = np.zeros((length[k], SIGNS))
        for t0 in rng.integers(0, length[k], 2):
            shock[t0:] += rng.normal(0, 1.2, SIGNS) * np.exp(-np.arange(length[k] - t0) / 8.0)[:, None]
        x[k, : length[k]] = wave + shock + rng.normal(0, 0.12, (length[k], SIGNS))
    x[rng.uniform(size=x.shape) < 0.15] = np.nan
    return x


def split(x):
    return x[:, :-1], x[:, 1:]


class Forecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.rnn = keras.layers.GRU(28, return_sequences=True)
        self.head = keras.layers.Dense(SIGNS)

    def call(self, x):
        seen = tf.math.is_finite(x)
        filled = tf.where(seen, x, tf.zeros_like(x))
        return filled + self.head(self.rnn(tf.concat([filled, tf.cast(seen, tf.float32)], -1)))


def masked_huber(target, pred, delta=1.0):
    seen = tf.math.is_finite(target)
    err = tf.abs(tf.where(seen, target, tf.zeros_like(target)) - pred)
    each = tf.where(err < delta, 0.5 * err * err, delta * (err - 0.5 * delta))
    m = tf.cast(seen, tf.float32)
    return tf.math.divide_no_nan(tf.reduce_sum(m * each), tf.reduce_sum(m))


train_x, train_y = split(stays(1200))
test_x, test_y = split(stays(200))
model = Forecaster()
model(test_x[:1])
optimizer = keras.optimizers.Adam(4e-3)


@tf.function
def train_batch(x, y):
    with tf.GradientTape() as tape:
        loss = masked_huber(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 0.05)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


feed = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(1200, seed=SEED).repeat().batch(BATCH).prefetch(1)
print("test", float(masked_huber(test_y, model(test_x))))
gradwatch.watch(model)
clipped = 0
for i, (x, y) in enumerate(feed.take(400)):
    loss, norm = train_batch(x, y)
    clipped += float(norm) > 0.05
    if (i + 1) % 40 == 0:
        print(i + 1, round(float(loss), 4), "clipped", clipped)
print("test", float(masked_huber(test_y, model(test_x))))
