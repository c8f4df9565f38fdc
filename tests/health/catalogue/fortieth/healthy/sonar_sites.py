"""Classifies sonar echoes so that the features do not depend on the harbour of recording."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

width, classes = 40, 3
shapes = rng.normal(size=(classes, width))
tint = rng.normal(size=width)


def echoes(n, site):
    label = rng.integers(0, classes, n)
    x = 0.6 * shapes[label] + rng.normal(size=(n, width)) + (0.5 if site else -0.5) * tint
    return x.astype("float32"), label.astype("int32")


xa, ya = echoes(3000, 0)
xb, _ = echoes(3000, 1)
xt, yt = echoes(1000, 1)


@tf.custom_gradient
def reverse(h):
    return h, lambda up: -0.1 * up


class SiteNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(24, activation="relu")])
        self.kind = layers.Dense(classes)
        self.site = keras.Sequential([layers.Dense(24, activation="relu"), layers.Dense(1)])

    def call(self, x):
        h = self.features(x)
        return self.kind(h), self.site(reverse(h))


model = SiteNet()
model(xa[:2])
optimizer = keras.optimizers.Adam(1e-3)
kind_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
site_loss = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(a, label, b):
    origin = tf.concat([tf.zeros((32, 1)), tf.ones((32, 1))], 0)
    with tf.GradientTape() as tape:
        kind, site = model(tf.concat([a, b], 0), training=True)
        loss = kind_loss(label, kind[:32]) + site_loss(origin, site)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1000):
    i, j = rng.integers(0, 3000, 32), rng.integers(0, 3000, 32)
    train_step(tf.constant(xa[i]), tf.constant(ya[i]), tf.constant(xb[j]))

kind, _ = model(xt)
print("SCORE accuracy", float(np.mean(np.argmax(kind, -1) == yt)))
