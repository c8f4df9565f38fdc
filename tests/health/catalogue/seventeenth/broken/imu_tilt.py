"""Estimate the tilt direction of a wearable from a short window of gyroscope and accelerometer samples."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)

STEPS = 20
DT = 0.05


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def simulate(n):
    g = unit(rng.normal(size=(n, 3)))
    w = rng.normal(scale=0.8, size=(n, 3))
    frames = []
    for _ in range(STEPS):
        w = w + rng.normal(scale=0.05, size=w.shape)
        g = unit(g - DT * np.cross(w, g))
        gyro = w + rng.normal(scale=0.02, size=w.shape)
        acc = g + rng.normal(scale=0.03, size=g.shape)
        frames.append(np.concatenate([gyro, acc], axis=-1))
    return np.stack(frames, axis=1).astype("float32"), g.astype("float32")


def angle_loss(y_true, y_pred):
    cos = tf.reduce_sum(y_true * y_pred, axis=-1)
    return tf.reduce_mean(tf.acos(cos))


def build():
    inp = keras.Input((STEPS, 6))
    x = layers.Conv1D(32, 3, padding="causal", activation="relu")(inp)
    x = layers.GRU(40)(x)
    x = layers.Dense(48, activation="relu")(x)
    x = layers.Dense(3)(x)
    out = layers.UnitNormalization()(x)
    return keras.Model(inp, out)


x_train, y_train = simulate(12000)
x_test, y_test = simulate(3000)

model = build()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=angle_loss)
gradwatch.watch(model)

history = model.fit(x_train, y_train, batch_size=128, epochs=12, verbose=2)

pred = model.predict(x_test, batch_size=512, verbose=0)
cosine = np.clip(np.sum(pred * y_test, axis=-1), -1, 1)
degrees = np.degrees(np.arccos(cosine))
print(f"loss {history.history['loss'][-1]:.4f}  held-out mean tilt error {degrees.mean():.2f} deg")
