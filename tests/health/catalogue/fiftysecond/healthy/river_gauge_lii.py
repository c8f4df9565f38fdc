"""River level tomorrow with honest error bars; warm restarts, best weights kept."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def river(days):
    rain = rng.gamma(0.3, 8.0, days)
    store, level = np.zeros(days), np.zeros(days)
    for d in range(1, days):
        store[d] = 0.9 * store[d - 1] + 0.1 * rain[d - 1]
        calm = 0.005 + 0.03 * (rain[d] > 5)
        level[d] = 0.8 * level[d - 1] + 0.05 * store[d - 1] + 0.01 * rain[d] + calm * rng.normal()
    return rain, level


rain, level = river(9000)
WINDOW = 10
rows = np.arange(WINDOW, 8999)
x = np.stack(
    [np.concatenate([np.log1p(rain[d - WINDOW + 1 : d + 2]), level[d - WINDOW + 1 : d + 1]]) for d in rows]
).astype("float32")
y = level[rows + 1].astype("float32")[:, None]
cut = 7000
mean, std = x[:cut].mean(axis=0), x[:cut].std(axis=0)
x = (x - mean) / std

inputs = keras.Input((x.shape[1],))
h = layers.Dense(64, activation="silu", name="basin")(inputs)
h = layers.Dense(64, activation="silu", name="channel")(h)
centre = layers.Dense(1, name="centre")(h)
log_width = layers.Dense(1, name="log_width")(h)
model = keras.Model(inputs, layers.Concatenate()([centre, log_width]), name="gauge")


def nll(y, out):
    log_s = keras.ops.clip(out[:, 1:], -6.0, 3.0)
    return keras.ops.mean(log_s + 0.5 * keras.ops.square((y - out[:, :1]) * keras.ops.exp(-log_s)))


schedule = keras.optimizers.schedules.CosineDecayRestarts(4e-3, 550, t_mul=1.5, m_mul=0.9)
model.compile(optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0), loss=nll)

gradwatch.watch(model)
model.fit(
    x[:cut],
    y[:cut],
    validation_data=(x[cut:], y[cut:]),
    batch_size=64,
    epochs=16,
    callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=12, restore_best_weights=True)],
    verbose=2,
)

out = model.predict(x[cut:], verbose=0)
inside = np.abs(y[cut:, 0] - out[:, 0]) < 1.645 * np.exp(out[:, 1])
r2 = 1 - np.mean((out[:, 0] - y[cut:, 0]) ** 2) / y[cut:].var()
print(f"r2 {r2:.3f}  share inside the 90% band {inside.mean():.3f}")
print(f"SCORE nll {float(nll(y[cut:], out)):.4f}")
