# Whale call classifier, mixed precision. Waveforms scaled to about unit level, per-band energy pooling.
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

CLASSES, T = 5, 400
freq = np.array([0.02, 0.05, 0.09, 0.14, 0.2])


def record(n):
    y = rng.integers(0, CLASSES, n)
    t = np.arange(T)
    f = freq[y][:, None] * (1 + rng.normal(0, 0.08, (n, 1))) * (1 + 0.2 * np.sin(2 * np.pi * t / T))
    call = np.sin(2 * np.pi * np.cumsum(f, 1) + rng.uniform(0, 6, (n, 1)))
    loud = np.exp(rng.normal(0, 1.2, (n, 1)))
    x = loud * call + rng.normal(0, 0.8, (n, T))
    return (x / 1.7).astype("float32")[..., None], y


x_train, y_train = record(1280)
x_test, y_test = record(500)


class EnergyPooling(layers.Layer):
    """Root of the summed energy of every band."""

    def call(self, x):
        energy = tf.reduce_sum(tf.square(x), axis=1)
        return tf.sqrt(energy + 1e-3)


inp = keras.Input((T, 1))
h = layers.Conv1D(24, 25, strides=2, use_bias=False)(inp)
h = EnergyPooling()(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(CLASSES, activation="softmax", dtype="float32")(h)
model = keras.Model(inp, out)
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy()
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1280, seed=seed).batch(32)
for epoch in range(8):
    print("epoch", epoch + 1, "loss", np.mean([float(train_step(x, y)) for x, y in data]))

p = model.predict(x_test, verbose=0)
print("test accuracy", np.mean(p.argmax(1) == y_test) if np.isfinite(p).all() else float("nan"))
