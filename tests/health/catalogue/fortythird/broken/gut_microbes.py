"""Trains a classifier of diets from the counts of bacterial taxa in gut samples."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TAXA, DIETS, READS = 24, 5, 500
base = rng.normal(0.0, 0.5, TAXA)
effect = rng.normal(0.0, 0.45, (DIETS, TAXA))


def sample(n):
    diet = rng.integers(0, DIETS, n)
    log_share = base + effect[diet] + rng.normal(0.0, 0.75, (n, TAXA))
    share = np.exp(log_share)
    share /= share.sum(1, keepdims=True)
    depth = rng.lognormal(np.log(READS), 0.35, (n, 1))
    counts = rng.poisson(share * depth) + 1.0
    return counts.astype("float32"), diet


class CenteredLogRatio(keras.layers.Layer):
    """log of each part over the geometric mean of the sample."""

    def call(self, counts):
        geometric = tf.pow(tf.reduce_prod(counts, axis=-1, keepdims=True), 1.0 / TAXA)
        return tf.math.log(counts / geometric)


x, y = sample(6000)
x_val, y_val = sample(1000)
x_test, y_test = sample(1500)

inputs = keras.Input((TAXA,), name="counts")
h = CenteredLogRatio()(inputs)
h = keras.layers.Dense(96, activation="relu")(h)
h = keras.layers.Dropout(0.2)(h)
h = keras.layers.Dense(48, activation="relu")(h)
h = keras.layers.Dropout(0.2)(h)
outputs = keras.layers.Dense(DIETS, activation="softmax")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x,
    y,
    validation_data=(x_val, y_val),
    batch_size=64,
    epochs=24,
    verbose=2,
)

accuracy = model.evaluate(x_test, y_test, verbose=0)[1]
print("SCORE accuracy", float(accuracy))
