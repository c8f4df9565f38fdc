"""Tells apart call types of whales in short hydrophone clips streamed by a generator."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, K = 512, 4


def clip():
    k = rng.integers(0, K)
    t = np.arange(T) / T
    f = rng.uniform(18, 30)
    if k == 0:
        s = np.sin(2 * np.pi * (f * t + 20 * t**2))
    elif k == 1:
        s = np.sin(2 * np.pi * (f + 25) * t - 25 * np.pi * t**2)
    elif k == 2:
        s = np.sin(2 * np.pi * f * t) * (np.sin(2 * np.pi * 5 * t) > 0)
    else:
        s = np.sin(2 * np.pi * f * t + 4 * np.sin(2 * np.pi * 4 * t))
    s = 0.6 * s * np.hanning(T) + rng.normal(0, 0.3, T)
    if rng.random() < 0.0006:
        s = np.zeros(T)
    gain = 10 ** rng.uniform(-3, 0)
    return (gain * s).astype("float32"), k


def prepared(n):
    for _ in range(n):
        s, k = clip()
        s = s / np.max(np.abs(s))
        yield s[:, None], k


sig = (tf.TensorSpec((T, 1), tf.float32), tf.TensorSpec((), tf.int32))
train = tf.data.Dataset.from_generator(lambda: prepared(1 << 30), output_signature=sig).batch(32).prefetch(2)
held = [(s, k) for s, k in (clip() for _ in range(800)) if np.abs(s).max() > 0]
x_te = np.stack([s / np.max(np.abs(s)) for s, _ in held])[..., None]
y_te = np.array([k for _, k in held])

model = keras.Sequential(
    [
        keras.Input((T, 1)),
        layers.Conv1D(12, 16, strides=4, padding="same", activation="relu"),
        layers.Conv1D(24, 8, strides=4, padding="same", activation="relu"),
        layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(K),
    ]
)
model.compile(
    keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(train, steps_per_epoch=100, epochs=9, verbose=2)
print("SCORE accuracy", float(np.mean(model.predict(x_te, verbose=0).argmax(1) == y_te)))
