"""Estimates the wear of a ball bearing from the spectrum of short vibration recordings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


RATE, SAMPLES = 2560, 256
time = np.arange(SAMPLES) / RATE


def collect(n):
    wear = rng.uniform(0, 1, n)
    x = np.zeros((n, SAMPLES))
    for f, amp in [(200, 0.8 + 0 * wear), (340, 0.1 + 0.9 * wear), (480, 0.9 - 0.7 * wear), (720, 0.3 + 0 * wear)]:
        phase = rng.uniform(0, 2 * np.pi, (n, 1))
        x += amp[:, None] * np.sin(2 * np.pi * f * time + phase)
    x *= rng.uniform(0.6, 1.4, (n, 1))
    x += 0.15 * rng.normal(size=x.shape)
    return x.astype("float32"), wear.astype("float32")


x_train, y_train = collect(4000)
x_test, y_test = collect(800)
window = tf.signal.hann_window(SAMPLES)


def spectrum(x):
    s = tf.signal.rfft(x * window)
    s = tf.math.real(s)
    return tf.math.log(tf.square(s) + 0.1)


model = keras.Sequential(
    [
        layers.Input((SAMPLES // 2 + 1,)),
        layers.BatchNormalization(),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(spectrum(x), training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000).batch(32)
for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in data]
    print("epoch", epoch, "loss", round(np.mean(losses), 5))

pred = model(spectrum(tf.constant(x_test)), training=False)[:, 0].numpy()
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
