"""Classify bearing faults from short vibration spectra with a half precision training loop."""

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

N_CLASS = 5


def make_windows(n):
    y = rng.integers(0, N_CLASS, n)
    t = np.arange(128) / 128.0
    base = np.array([9.0, 14.0, 19.0, 25.0, 31.0])[y] + rng.normal(0, 0.7, n)
    phase = rng.random((n, 1)) * 2 * np.pi
    wave = np.sin(2 * np.pi * base[:, None] * t + phase) * (1 + 0.5 * np.sin(2 * np.pi * 3 * t))
    wave = wave + rng.normal(0, 1.6, (n, 128))
    spec = np.log1p(np.abs(np.fft.rfft(wave, axis=1))[:, 1:])
    return ((spec - 2.3) / 0.7).astype("float32"), y.astype("int32")


x_train, y_train = make_windows(6000)
x_test, y_test = make_windows(2000)

model = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(N_CLASS, dtype="float32"),
    ]
)
gradwatch.watch(model)

optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.02, momentum=0.9))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(8):
    total = 0.0
    for x, y in data:
        total += float(train_step(x, y))
    print("epoch", epoch, "loss", total / 93)

pred = model.predict(x_test, batch_size=256, verbose=0).argmax(1)
print("SCORE accuracy", float((pred == y_test).mean()))
