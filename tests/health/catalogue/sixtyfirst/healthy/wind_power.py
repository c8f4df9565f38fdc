import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

hours = np.arange(4000)
gust = np.zeros(len(hours))
for i in range(1, len(hours)):
    gust[i] = 0.93 * gust[i - 1] + rng.normal(0, 0.35)
speed = 8 + 2.0 * np.sin(2 * np.pi * hours / 24) + 1.5 * gust
power = 1 / (1 + np.exp(-(speed - 8) / 1.5)) + rng.normal(0, 0.03, len(hours))

WINDOW = 18
table = np.stack([(speed - 8) / 3, power, np.sin(2 * np.pi * hours / 24), np.cos(2 * np.pi * hours / 24)], 1)
x = np.stack([table[t - WINDOW : t] for t in range(WINDOW, len(hours))]).astype("float32")
y = power[WINDOW:].astype("float32")[:, None]
split = 3200


def gaussian_nll(target, params):
    mean, log_var = tf.split(params, 2, axis=-1)
    log_var = tf.clip_by_value(log_var, -8.0, 4.0)
    return tf.reduce_mean(0.5 * (log_var + tf.square(target - mean) * tf.exp(-log_var)))


inputs = keras.Input((WINDOW, 4))
h = keras.layers.GRU(24, name="weather")(inputs)
h = keras.layers.Dense(24, activation="relu", name="turbine")(h)
outputs = keras.layers.Dense(2, name="mean_and_spread")(h)
model = keras.Model(inputs, outputs)

schedule = keras.optimizers.schedules.CosineDecayRestarts(6e-3, first_decay_steps=100, t_mul=1.5, m_mul=0.9)
model.compile(
    optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0),
    loss=gaussian_nll,
)
gradwatch.watch(model)
model.fit(
    x[:split],
    y[:split],
    batch_size=32,
    epochs=7,
    verbose=2,
    validation_data=(x[split:], y[split:]),
)

pred = model.predict(x[split:], verbose=0)[:, :1]
print("SCORE", r2_score(y[split:], pred))
