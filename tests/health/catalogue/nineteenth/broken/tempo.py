"""Tempo class of an onset-strength envelope (dance music), residual conv net."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

EPOCHS, BATCH, FRAMES = 14, 64, 100
keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
PERIODS = np.array([6.0, 7.0, 8.2, 9.6, 11.2])


def envelopes(n):
    y = rng.integers(0, len(PERIODS), n)
    per = PERIODS[y] * rng.normal(1, 0.01, n)
    t = np.arange(FRAMES)
    phase = (t[None] / per[:, None] + rng.random((n, 1))) % 1
    beat = np.exp(-(((phase - 0.5) / 0.12) ** 2)) * rng.uniform(0.5, 1.3, (n, FRAMES))
    off = np.exp(-((((2 * phase) % 1 - 0.5) / 0.2) ** 2)) * rng.uniform(0, 0.4, (n, 1))
    x = beat + off + 0.25 * rng.normal(size=(n, FRAMES))
    return ((x - 0.4) / 0.45).astype("float32")[..., None], y.astype("int32")


def residual(x, filters, k):
    y = layers.Conv1D(filters, k, padding="same", activation="relu")(x)
    y = layers.Conv1D(filters, k, padding="same")(y)
    if x.shape[-1] != filters:
        x = layers.Conv1D(filters, 1)(x)
    return layers.ReLU()(layers.add([x, y]))


def network():
    inp = keras.Input((FRAMES, 1))
    h = residual(inp, 12, 7)
    h = layers.AveragePooling1D(2)(h)
    h = residual(h, 16, 7)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(32, activation="relu")(h)
    return keras.Model(inp, layers.Dense(len(PERIODS))(h))


x, y = envelopes(3600)
xt, yt = envelopes(700)
net = network()
rate = keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=EPOCHS, alpha=1e-3)
net.compile(
    optimizer=keras.optimizers.Adam(learning_rate=rate),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(net)
h = net.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0)
loss, acc = net.evaluate(xt, yt, verbose=0)
print("train loss %.4f, new tracks: loss %.4f accuracy %.3f" % (h.history["loss"][-1], loss, acc))
