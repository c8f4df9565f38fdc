"""Detects rust on wheat leaves from reflectance spectra, trained in half precision."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

keras.mixed_precision.set_global_policy("mixed_float16")
N, F = 5000, 64


def spectra(n):
    wl = np.linspace(0, 1, F)[None]
    y = rng.integers(0, 3, n)
    red = 0.5 + 0.25 * np.tanh((wl - 0.6 - rng.normal(0, 0.02, (n, 1))) * 15)
    green = rng.uniform(0.05, 0.2, (n, 1)) * np.exp(-(((wl - 0.3) / 0.06) ** 2))
    rust = (y[:, None] * 0.09) * np.exp(-(((wl - 0.45) / 0.05) ** 2))
    s = (red + green + rust) * rng.uniform(0.8, 1.2, (n, 1)) + rng.normal(0, 0.03, (n, F))
    return s, y.astype("int32")


s, y = spectra(N)
s_te, y_te = spectra(1000)
mu, sd = s.mean(0), s.std(0)
x, x_te = ((s - mu) / sd).astype("float32"), ((s_te - mu) / sd).astype("float32")

model = keras.Sequential(
    [
        keras.Input((F,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(3, dtype="float32"),
    ]
)
gradwatch.watch(model)
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.05, momentum=0.9))
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(N, seed=seed).batch(64)
for epoch in range(12):
    losses = [float(train_step(xb, yb)) for xb, yb in ds]
    print(epoch, np.mean(losses))

print("SCORE accuracy", float(np.mean(model.predict(x_te, verbose=0).argmax(1) == y_te)))
