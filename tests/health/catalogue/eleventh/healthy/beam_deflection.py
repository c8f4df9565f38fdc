"""Surrogate for the deflection (in metres) of a micro-machined beam at sixteen points."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
POINTS = np.linspace(0, 1, 16)


def beams(n):
    load = rng.uniform(0.2, 1.0, (n, 1))
    thick = rng.uniform(0.7, 1.3, (n, 1))
    where = rng.uniform(0.4, 1.0, (n, 1))
    s = np.minimum(POINTS, where)
    w = load * s**2 * (3 * np.maximum(POINTS, where) - s) / (6 * thick**3)
    params = np.concatenate([load, thick, where], 1)
    return ((params - 0.75) * 2).astype("float32"), (w * 2e-4).astype("float32")


X, W = beams(8192)
Xv, Wv = beams(1000)

model = keras.Sequential(
    [
        keras.Input((3,)),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(16),
        keras.layers.Rescaling(1e-4, name="metres"),
    ]
)
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3, epsilon=1e-15)
batches = tf.data.Dataset.from_tensor_slices((X, W)).shuffle(8192, seed=SEED).repeat().batch(128).take(400)


@tf.function
def fit_batch(x, w):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - w) ** 2)
    opt.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


for i, (x, w) in enumerate(batches):
    loss = fit_batch(x, w)
    if i % 50 == 0 or i == 399:
        print(f"{i:4d}  {float(loss):.3e} m^2")
pv = model.predict(Xv, verbose=0)
print("held-out R2: %.4f" % (1 - ((pv - Wv) ** 2).mean() / Wv.var()))
