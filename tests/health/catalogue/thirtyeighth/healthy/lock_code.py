"""Finds out which three switches of a panel decide, by their parity, whether a lock opens."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


BITS, KEY = 20, (2, 7, 11)


def presses(n):
    x = rng.integers(0, 2, size=(n, BITS)) * 2 - 1
    return x.astype("float32"), (np.prod(x[:, KEY], axis=1) > 0).astype("float32")[:, None]


x, y = presses(12000)
xt, yt = presses(2000)

model = keras.Sequential(
    [
        keras.Input((BITS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
opt = keras.optimizers.SGD(0.03, momentum=0.9)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)

gradwatch.watch(model)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = loss_fn(b, model(a, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(12000, seed=seed).batch(64, drop_remainder=True).repeat()
for a, b in ds.take(1400):
    loss = step(a, b)

p = model.predict(xt, verbose=0)
print("SCORE accuracy", float(np.mean((p > 0) == (yt > 0.5))))
