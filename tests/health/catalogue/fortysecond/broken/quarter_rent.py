"""Trains a rent model with a learned vector for each city quarter."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

QUARTERS, DIM, BATCH, EPOCHS = 400, 6, 128, 22
charm = rng.normal(0, 1, QUARTERS)
noise_level = rng.normal(0, 1, QUARTERS)


def make_flats(count):
    quarter = rng.integers(0, QUARTERS, count)
    area = rng.gamma(9, 8, count)
    floor = rng.integers(0, 9, count)
    age = rng.uniform(0, 120, count)
    balcony = rng.integers(0, 2, count)
    rent = 0.6 * np.log(area) + 0.25 * charm[quarter] + 0.05 * balcony
    rent += 0.03 * floor * noise_level[quarter] - 0.1 * np.sin(age / 40)
    rent += rng.normal(0, 0.05, count)
    numeric = np.stack([np.log(area), floor, age, balcony], axis=1)
    return numeric.astype("float32"), quarter.astype("int32"), rent.astype("float32")


num_train, q_train, y_train = make_flats(16000)
num_test, q_test, y_test = make_flats(2000)
n_mean, n_std = num_train.mean(0), num_train.std(0)
num_train, num_test = (num_train - n_mean) / n_std, (num_test - n_mean) / n_std
y_mean, y_std = y_train.mean(), y_train.std()
y_train, y_test = (y_train - y_mean) / y_std, (y_test - y_mean) / y_std


class QuarterTable(layers.Layer):
    def __init__(self, rows, dim, **kwargs):
        super().__init__(**kwargs)
        start = keras.initializers.RandomNormal(stddev=0.3)
        self.table = tf.Variable(start((rows, dim)), name="table")

    def call(self, ids):
        return tf.gather(self.table, ids)


numeric_in = keras.Input((4,), name="numeric")
quarter_in = keras.Input((), dtype="int32", name="quarter")
h = layers.Concatenate()([numeric_in, QuarterTable(QUARTERS, DIM)(quarter_in)])
h = layers.Dense(32, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model([numeric_in, quarter_in], layers.Dense(1)(h))
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def train_step(numeric, quarter, y):
    with tf.GradientTape() as tape:
        pred = model([numeric, quarter], training=True)[:, 0]
        loss = tf.reduce_mean(tf.abs(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


flats = tf.data.Dataset.from_tensor_slices((num_train, q_train, y_train)).shuffle(16000, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    losses = [train_step(*batch) for batch in flats]
    print(f"epoch {epoch + 1} mae {float(tf.reduce_mean(losses)):.4f}")

pred = model.predict([num_test, q_test], batch_size=500, verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
