"""Trains a convolutional detector of cell nuclei that outputs a heat map of centres."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 32
PRIOR = 0.01
YY, XX = np.mgrid[0:SIDE, 0:SIDE]


def make_fields(count):
    images = rng.normal(0, 0.3, (count, SIDE, SIDE))
    heat = np.zeros((count, SIDE, SIDE))
    for i in range(count):
        for _ in range(rng.integers(2, 6)):
            cy, cx = rng.integers(3, SIDE - 3, 2)
            a, b = rng.uniform(1.5, 3.0, 2)
            r = ((YY - cy) / a) ** 2 + ((XX - cx) / b) ** 2
            images[i] += rng.uniform(1.0, 1.8) * np.exp(-r)
            heat[i, cy, cx] = 1.0
        ly, lx = rng.integers(0, SIDE, 2)
        images[i, ly, :] += 0.8
        images[i, :, lx] += 0.8
    return images.astype("float32")[..., None], heat.astype("float32")[..., None]


x_train, y_train = make_fields(600)
x_test, y_test = make_fields(100)
x_mean, x_std = x_train.mean(), x_train.std()
x_train, x_test = (x_train - x_mean) / x_std, (x_test - x_mean) / x_std

prior_bias = keras.initializers.Constant(-np.log((1 - PRIOR) / PRIOR))
conv = dict(padding="same", kernel_initializer="he_normal")

inputs = keras.Input((SIDE, SIDE, 1))
h = layers.Conv2D(12, 3, activation="relu", **conv)(inputs)
h = layers.Conv2D(12, 3, activation="relu", dilation_rate=2, **conv)(h)
h = layers.Conv2D(16, 3, activation="relu", dilation_rate=2, **conv)(h)
h = layers.Conv2D(16, 3, activation="relu", **conv)(h)
outputs = layers.Conv2D(1, 1, bias_initializer=prior_bias, name="centre")(h)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def focal(y, logits):
    p = tf.sigmoid(logits)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
    weight = y * tf.square(1 - p) + (1 - y) * tf.square(p)
    return tf.reduce_sum(weight * ce) / tf.maximum(tf.reduce_sum(y), 1.0)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = focal(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(14):
    order = rng.permutation(len(x_train))
    losses = [float(train_step(x_train[i], y_train[i])) for i in np.split(order, 40)]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

scores = model.predict(x_test, batch_size=20, verbose=0).ravel()
order = np.argsort(-scores, kind="stable")
hits = y_test.ravel()[order]
precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
print("SCORE average_precision", float(np.sum(precision * hits) / hits.sum()))
