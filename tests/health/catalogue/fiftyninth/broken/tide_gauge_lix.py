import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

HIST, AHEAD = 48, 6
rng = np.random.default_rng(SEED + 8)
hours = np.arange(7000)
level = (
    1.1 * np.sin(2 * np.pi * hours / 12.42)
    + 0.4 * np.sin(2 * np.pi * hours / 12.0 + 1)
    + 0.25 * np.sin(2 * np.pi * hours / 25.82 + 2)
)
surge = np.zeros(len(hours))
for i in range(1, len(hours)):
    surge[i] = 0.97 * surge[i - 1] + 0.04 * rng.normal()
level = (level + surge + 0.03 * rng.normal(size=len(hours))).astype("float32")

cut = 5600
mean, std = level[:cut].mean(), level[:cut].std()
level = (level - mean) / std


def windows(series):
    past = np.lib.stride_tricks.sliding_window_view(series[:-AHEAD], HIST)
    future = np.lib.stride_tricks.sliding_window_view(series[HIST:], AHEAD)
    return past[..., None].copy(), future.copy()


x_train, y_train = windows(level[:cut])
x_test, y_test = windows(level[cut:])
train = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=SEED)
    .batch(64)
    .prefetch(tf.data.AUTOTUNE)
)


class TideNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.norm = layers.LayerNormalization(name="norm")
        self.conv = layers.Conv1D(24, 5, activation="gelu", padding="causal", name="conv")
        self.gru = layers.GRU(32, name="gru")
        self.head = layers.Dense(AHEAD, name="head")

    def call(self, x, training=False):
        x = self.norm(x)
        x = self.conv(x)
        return self.head(self.gru(x))


model = TideNet()
model.build((None, HIST, 1))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mae")
watch = gradwatch.watch(model)
model.fit(train, epochs=5, validation_data=(x_test, y_test), verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", float(r2))
