"""Finds sparse parts in patches of texture: an autoencoder in which most units are silent most of the time, by an L1 price."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S, PARTS, UNITS = 10, 24, 96
yy, xx = np.mgrid[:S, :S]
ang, cy, cx = rng.uniform(0, 3.14, PARTS), rng.uniform(2, 8, PARTS), rng.uniform(2, 8, PARTS)
u = (xx[None] - cx[:, None, None]) * np.cos(ang)[:, None, None] + (yy[None] - cy[:, None, None]) * np.sin(ang)[
    :, None, None
]
r2 = (xx[None] - cx[:, None, None]) ** 2 + (yy[None] - cy[:, None, None]) ** 2
part = (np.cos(1.8 * u) * np.exp(-r2 / 6)).reshape(PARTS, -1)
part /= np.linalg.norm(part, axis=1, keepdims=True)


def make_patches(n):
    a = rng.exponential(1.5, (n, PARTS)) * (rng.random((n, PARTS)) < 0.08)
    return (a @ part + rng.normal(0, 0.03, (n, S * S))).astype("float32")


x_train, x_test = make_patches(5000), make_patches(800)
inp = layers.Input((S * S,))
code = layers.Dense(UNITS, activation="relu", bias_initializer=keras.initializers.Constant(-0.05), name="code")(inp)
out = layers.Dense(S * S, use_bias=False, kernel_constraint=keras.constraints.UnitNorm(axis=1), name="dictionary")(code)
model = keras.Model(inp, [out, code])
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        rec, c = model(x, training=True)
        fit = tf.reduce_mean(tf.reduce_sum(tf.square(rec - x), axis=1))
        loss = fit + 0.08 * tf.reduce_mean(tf.reduce_sum(c, axis=1))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return fit


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(5000, seed=seed).batch(64)
for epoch in range(18):
    print("epoch", epoch, np.mean([float(step(x)) for x in data]))
rec, c = model.predict(x_test, verbose=0)
print("silent share", float((c == 0).mean()))
print("SCORE explained", float(1 - np.sum((rec - x_test) ** 2) / np.sum(x_test**2)))
