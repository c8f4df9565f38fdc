"""Trains a mixture density network that gives the colour indices of stars from their temperature and metal content."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PARTS = 3


def stars(n):
    x = rng.uniform(-1.0, 1.0, (n, 2))
    giant = rng.random(n) < 0.4
    colour = 0.10 * np.sin(2.5 * x[:, 0]) - 0.05 * x[:, 1] + np.where(giant, 0.12, 0.0)
    colour += rng.normal(0.0, 0.006, n) * np.where(giant, 1.6, 1.0)
    return x.astype("float32"), colour.astype("float32")[:, None]


x, y = stars(8000)
x_test, y_test = stars(1500)

model = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(3 * PARTS),
    ]
)


def negative_log_likelihood(y_true, raw):
    logits, means, spreads = tf.split(raw, 3, axis=-1)
    sigma = tf.nn.softplus(spreads - 2.0) + 1e-3
    z = (y_true - 0.2 * means) / sigma
    log_part = -0.5 * tf.square(z) - tf.math.log(sigma) - 0.9189385
    return -tf.reduce_logsumexp(tf.nn.log_softmax(logits) + log_part, axis=-1)


model.compile(
    optimizer=keras.optimizers.Adam(1e-3, clipnorm=5.0),
    loss=negative_log_likelihood,
)
gradwatch.watch(model)

model.fit(
    x,
    y,
    batch_size=100,
    epochs=20,
    validation_split=0.1,
    verbose=2,
)

test_nll = model.evaluate(x_test, y_test, verbose=0)
print("SCORE neg_nll", float(-test_nll))
