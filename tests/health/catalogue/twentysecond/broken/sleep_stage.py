"""Sleep stages from 2-channel EEG windows."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STAGES = ["wake", "n1", "n2", "n3", "rem"]
T = 96  # 3 s at 32 Hz
power = {"wake": (10, 1.0), "n1": (6, 0.8), "n2": (13, 0.9), "n3": (1.5, 1.4), "rem": (4, 0.7)}


def window(k):
    f, a = power[STAGES[k]]
    t = np.arange(T) / 32
    f = f * rng.uniform(0.9, 1.1)
    ph = rng.uniform(0, 2 * np.pi)
    wave = np.stack([a * np.sin(2 * np.pi * f * t + ph), 0.7 * a * np.sin(2 * np.pi * f * t + ph + 0.5)], -1)
    return wave + rng.normal(0, 0.7, (T, 2))


y = rng.integers(0, 5, 2500)
x = np.array([window(k) for k in y], "float32")
x = x / x[:2000].std((0, 1))
train = tf.data.Dataset.from_tensor_slices((x[:2000], y[:2000])).shuffle(2000).batch(64)


class SleepNet(keras.Model):
    def __init__(self, width=32):
        super().__init__()
        self.width = width
        self.conv1 = layers.Conv1D(16, 9, strides=2, activation="relu", name="conv1")
        self.conv2 = layers.Conv1D(24, 5, strides=2, activation="relu", name="conv2")
        self.pool = layers.GlobalMaxPooling1D()
        self.logits = layers.Dense(len(STAGES), name="logits")

    def call(self, inputs):
        h = self.conv2(self.conv1(inputs))
        h = self.pool(h)
        h = layers.Dense(self.width, activation="relu")(h)
        return self.logits(h)


model = SleepNet()
model(x[:2])
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)

for epoch in range(10):
    losses = []
    for xb, yb in train:
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        losses.append(float(loss))
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

pred = np.argmax(model(x[2000:], training=False), axis=1)
print(f"test accuracy {np.mean(pred == y[2000:]):.3f}")
