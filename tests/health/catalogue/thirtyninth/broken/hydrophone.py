"""Autoregressive model of quantised hydrophone recordings: predicts the next sample level from the past."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEVELS, T = 24, 96


def recordings(n):
    t = np.arange(T + 1)
    f = rng.uniform(0.02, 0.09, (n, 2))
    ph = rng.uniform(0, 2 * np.pi, (n, 2))
    am = rng.uniform(0.3, 1.0, (n, 2))
    wave = sum(am[:, k : k + 1] * np.sin(2 * np.pi * f[:, k : k + 1] * t + ph[:, k : k + 1]) for k in range(2))
    click = np.where((t[None] + rng.integers(0, 16, (n, 1))) % 16 == 0, 0.8, 0.0)
    wave = wave + click + rng.normal(0, 0.06, wave.shape)
    return np.clip(((wave + 2.2) / 4.4 * LEVELS).astype("int32"), 0, LEVELS - 1)


train, test = recordings(2400), recordings(600)


def block(x, dilation):
    h = layers.Conv1D(32, 3, dilation_rate=dilation, padding="same", activation="relu")(x)
    h = layers.Conv1D(32, 1)(h)
    return layers.Add()([x, h])


inp = keras.Input((T,), dtype="int32")
x = layers.Embedding(LEVELS, 32)(inp)
for d in (1, 2, 4, 8):
    x = block(x, d)
x = layers.ReLU()(x)
x = layers.Dense(48, activation="relu")(x)
out = layers.Dense(LEVELS)(x)
model = keras.Model(inp, out)
model.compile(
    keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(train[:, :-1], train[:, 1:], batch_size=32, epochs=8, verbose=2)

# the level that follows each held-out recording
logits = model.predict(test[:, :-1], verbose=0)[:, -1]
mae = np.abs(logits.argmax(-1) - test[:, -1]).mean()
print("SCORE next_level_mae %.4f" % mae)
