"""Sort folded radio profiles into pulsars and interference with a large-margin network."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BINS = 64
phase = np.arange(BINS)


def profiles(n):
    label = rng.integers(0, 2, n)
    centre = rng.uniform(0, BINS, (n, 1))
    dist = np.abs(phase - centre)
    dist = np.minimum(dist, BINS - dist)
    width = rng.uniform(2.0, 4.0, (n, 1))
    pulsar = np.exp(-0.5 * (dist / width) ** 2)
    rfi = 0.6 * np.cos(2 * np.pi * (phase - centre) / BINS * rng.integers(1, 3, (n, 1)))
    x = np.where(label[:, None] == 1, 1.5 * pulsar, rfi) + rng.normal(0, 0.5, (n, BINS))
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    return x[..., None].astype("float32"), label.astype("float32")


x_train, y_train = profiles(3200)
x_test, y_test = profiles(1000)

model = keras.Sequential(
    [
        keras.Input((BINS, 1)),
        layers.Conv1D(12, 7, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(16, 5, padding="same", activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)


def squared_hinge(y, score):
    return tf.reduce_mean(tf.square(tf.nn.relu(1.0 - y * score)))


optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3200, seed=seed).batch(32)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        score = tf.squeeze(model(x, training=True), axis=-1)
        loss = squared_hinge(y, score)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    for x, y in data:
        train_step(x, y)

pred = model.predict(x_test, verbose=0)[:, 0] > 0
print("SCORE accuracy", float(np.mean(pred == (y_test == 1))))
