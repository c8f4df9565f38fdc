"""Identifies the mineral in a diffraction spectrum among forty with a one-dimensional convolutional network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES, P = 40, 96
grid = np.arange(P)
peaks = rng.uniform(4, P - 4, (CLASSES, 5))
heights = rng.uniform(0.3, 1.0, (CLASSES, 5))


def make(n):
    y = rng.integers(0, CLASSES, n)
    c = peaks[y] + rng.normal(0, 0.7, (n, 5))
    h = heights[y] * rng.uniform(0.6, 1.4, (n, 5))
    x = (h[:, :, None] * np.exp(-(((grid - c[:, :, None]) / 1.8) ** 2))).sum(1)
    x += rng.normal(0, 0.08, x.shape)
    return x[..., None].astype("float32"), y.astype("int32")


x_train, y_train = make(5000)
x_test, y_test = make(1000)

model = keras.Sequential(
    [
        keras.Input((P, 1)),
        layers.Conv1D(16, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ]
)
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000).batch(64)
for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in data]
    print("epoch", epoch + 1, "loss", round(float(np.mean(losses)), 4))

pred = model.predict(x_test, verbose=0).argmax(1)
print("SCORE accuracy", round(float(np.mean(pred == y_test)), 4))
