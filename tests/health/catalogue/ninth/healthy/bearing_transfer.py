"""Adapt a vibration model learnt on one machine to the faults of another machine."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
LENGTH = 96


def vibrations(n, tones):
    y = rng.integers(0, len(tones), n)
    t = np.arange(LENGTH)[None]
    f = np.array(tones)[y][:, None] * (1 + rng.normal(0, 0.02, (n, 1)))
    p = rng.uniform(0, 2 * np.pi, (n, 2))
    x = np.sin(2 * np.pi * f * t + p[:, :1]) + 0.5 * np.sin(4.3 * np.pi * f * t + p[:, 1:])
    x = x * rng.uniform(0.5, 1.5, (n, 1)) + rng.normal(0, 0.7, (n, LENGTH))
    return x.astype("float32")[..., None], y.astype("int32")


base = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(56, 9, padding="same", use_bias=False, name="c1"),
        layers.BatchNormalization(momentum=0.9, name="n1"),
        layers.ReLU(),
        layers.MaxPooling1D(2),
        layers.Conv1D(72, 7, padding="same", use_bias=False, name="c2"),
        layers.BatchNormalization(momentum=0.9, name="n2"),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
    ],
    name="base",
)
signal = keras.Input((LENGTH, 1))
source = keras.Model(signal, layers.Dense(10, name="source_head")(base(signal)), name="source")
target = keras.Input((LENGTH, 1))
h = base(target, training=False)
h = layers.Dense(32, activation="relu", name="adapt")(h)
model = keras.Model(target, layers.Dense(5, name="target_head")(h), name="target")
gradwatch.watch(model)

loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
source.compile(optimizer=keras.optimizers.Adam(2e-3), loss=loss, metrics=["accuracy"])
x, y = vibrations(96 * 120, np.linspace(0.03, 0.3, 10))
source.fit(x, y, batch_size=96, epochs=1, verbose=2)

tones = [0.06, 0.07, 0.08, 0.09, 0.1]
x, y = vibrations(96 * 22, tones)
x_test, y_test = vibrations(1000, tones)

base.trainable = False
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=loss, metrics=["accuracy"])
print("before", model.evaluate(x_test, y_test, batch_size=500, verbose=0))
model.fit(x, y, batch_size=96, epochs=6, verbose=2)
print("head only", model.evaluate(x_test, y_test, batch_size=500, verbose=0))

base.trainable = True
for layer in base.layers:
    if isinstance(layer, layers.BatchNormalization):
        layer.trainable = False
model.compile(optimizer=keras.optimizers.Adam(3e-4), loss=loss, metrics=["accuracy"])
model.fit(x, y, batch_size=96, epochs=6, verbose=2)
print("all layers", model.evaluate(x_test, y_test, batch_size=500, verbose=0))
