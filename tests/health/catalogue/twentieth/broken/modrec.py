"""Automatic modulation recognition from IQ bursts with a deep 1-D residual network."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, layers

import gradwatch

tf.random.set_seed(2)
rng = np.random.default_rng(2)
L = 64
MODS = ["bpsk", "qpsk", "8psk", "16qam", "am", "fm"]


def burst(kind):
    k = rng.integers(0, 8, L // 4)
    if kind == "bpsk":
        s = np.exp(1j * np.pi * (k % 2))
    elif kind == "qpsk":
        s = np.exp(1j * np.pi / 2 * (k % 4))
    elif kind == "8psk":
        s = np.exp(1j * np.pi / 4 * k)
    elif kind == "16qam":
        s = ((rng.integers(0, 4, L // 4) * 2 - 3) + 1j * (rng.integers(0, 4, L // 4) * 2 - 3)) / 3.16
    msg = np.cumsum(rng.normal(size=L)) * 0.4
    if kind == "am":
        x = (1 + 0.6 * np.sin(msg)).astype(complex)
    elif kind == "fm":
        x = np.exp(1j * 2 * msg)
    else:
        x = np.repeat(s, 4)
    x = x * np.exp(1j * (rng.uniform(-0.3, 0.3) + 0.01 * rng.normal() * np.arange(L)))
    x = x + 0.08 * (rng.normal(size=L) + 1j * rng.normal(size=L))
    return np.stack([x.real, x.imag], -1)


def dataset(n):
    y = rng.integers(0, len(MODS), n)
    return np.stack([burst(MODS[c]) for c in y]).astype("float32"), y


def block(x, width):
    h = layers.Activation("relu")(x)
    h = layers.Conv1D(width, 3, padding="same", kernel_initializer="he_normal")(h)
    h = layers.Activation("relu")(h)
    h = layers.Conv1D(width, 3, padding="same", kernel_initializer="he_normal")(h)
    return layers.Add()([x, h])


def network(depth=20, width=10):
    inp = Input((L, 2))
    x = layers.Conv1D(width, 5, strides=2, padding="same")(inp)
    for _ in range(depth):
        x = block(x, width)
    x = layers.GlobalAveragePooling1D()(layers.Activation("relu")(x))
    return Model(inp, layers.Dense(len(MODS))(x))


x, y = dataset(3072)
xv, yv = dataset(1000)
model = network()
model.compile(tf.keras.optimizers.Adam(1e-3), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
gradwatch.watch(model)
h = model.fit(x, y, batch_size=64, epochs=7, verbose=0)
p = model.predict(xv, verbose=0).argmax(1)
print("loss", h.history["loss"][-1], "held-out accuracy", np.mean(p == yv))
