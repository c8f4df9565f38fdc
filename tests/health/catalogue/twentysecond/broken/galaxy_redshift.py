"""Photometric redshift regression; the effective batch is built from small ones to fit the memory."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MICRO, ACCUM, EPOCHS = 16, 4, 6

n = 4000
z = rng.gamma(3.0, 0.22, n)
kind = rng.normal(0, 1, n)
bands = np.array([0.35, 0.47, 0.62, 0.75, 0.89, 1.02])
rest = bands[None] / (1 + z[:, None])
flux = 1 / (1 + np.exp(-(rest - 0.4) / 0.04)) * (1 + 0.3 * np.tanh(kind)[:, None]) + 0.25 * rest
mag = -2.5 * np.log10(flux + 0.05) + rng.normal(0, 0.04, (n, 6)) + rng.normal(20, 1, (n, 1))
x = np.concatenate([np.diff(mag, axis=1), mag[:, 3:4]], axis=1)

x = ((x - x.mean(0)) / x.std(0)).astype("float32")
y = ((z - z.mean()) / z.std()).astype("float32")[:, None]
x_test, y_test = x[3200:], y[3200:]
ds = tf.data.Dataset.from_tensor_slices((x[:3200], y[:3200])).shuffle(3200).batch(MICRO)

model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(64, activation="gelu"),
        layers.Dense(64, activation="gelu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.MeanSquaredError()
gradwatch.watch(model)

accumulated = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True)) / ACCUM
    for acc, g in zip(accumulated, tape.gradient(loss, model.trainable_variables)):
        acc.assign_add(g)
    return loss * ACCUM


for epoch in range(EPOCHS):
    losses = []
    for i, (xb, yb) in enumerate(ds):
        losses.append(float(micro_step(xb, yb)))
        if (i + 1) % ACCUM == 0:
            optimizer.apply_gradients(
                [(tf.convert_to_tensor(a), v) for a, v in zip(accumulated, model.trainable_variables)]
            )
    print(f"epoch {epoch + 1}: mse {np.mean(losses):.4f}")

err = y_test - model.predict(x_test, verbose=0)
print(f"R2 {1 - np.mean(err**2) / np.var(y_test):.3f}")
