"""Trains a multiple-instance classifier on bags of tissue patches."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PATCHES, SIDE = 24, 10
GRID = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"), -1)


def patch(tumour):
    image = rng.normal(0, 0.35, (SIDE, SIDE))
    centre = rng.uniform(2, SIDE - 3, 2)
    dist = np.linalg.norm(GRID - centre, axis=-1)
    if tumour:
        image += 1.5 * (np.abs(dist - 2.5) < 0.8)
    else:
        image += 1.5 * (dist < rng.uniform(1.2, 2.6))
    return image


def make_bags(count):
    bags = np.zeros((count, PATCHES, SIDE, SIDE, 1), "float32")
    labels = (rng.uniform(size=count) < 0.5).astype("float32")
    for i in range(count):
        sick = int(rng.integers(2, PATCHES)) if labels[i] else 0
        flags = np.arange(PATCHES) < sick
        rng.shuffle(flags)
        bags[i, ..., 0] = [patch(f) for f in flags]
    return bags, labels[:, None]


x_train, y_train = make_bags(640)
x_test, y_test = make_bags(200)

encoder = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.Conv2D(16, 3, activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(-3.0)),
    ]
)


class AnyPositive(layers.Layer):
    def call(self, p):
        return 1.0 - tf.reduce_prod(1.0 - p, axis=1)


def bag_likelihood(y_true, p):
    p = tf.clip_by_value(p, 1e-6, 1.0 - 1e-6)
    ll = y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p)
    return -tf.reduce_mean(ll, axis=-1)


bag_in = keras.Input((PATCHES, SIDE, SIDE, 1))
scores = layers.TimeDistributed(encoder)(bag_in)
model = keras.Model(bag_in, AnyPositive()(scores))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=bag_likelihood)
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=16, epochs=15, verbose=2)

prob = model.predict(x_test, verbose=0)
print("SCORE accuracy", float(np.mean((prob > 0.5) == (y_test > 0.5))) if np.isfinite(prob).all() else float("nan"))
