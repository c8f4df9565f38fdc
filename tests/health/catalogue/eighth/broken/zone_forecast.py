# Probabilistic day-ahead load for the zones of an office building.
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
gen = np.random.default_rng(SEED)

ZONES = 10
METERED = np.array([1, 1, 1, 0, 1, 1, 1, 1, 0, 1], dtype="float32")


def make_building(days=420):
    hours = days * 24
    t = np.arange(hours)
    outdoor = (
        11 + 9 * np.sin(2 * np.pi * t / (24 * 365)) + 4 * np.sin(2 * np.pi * (t - 9) / 24) + gen.normal(0, 1.2, hours)
    )
    weekday = ((t // 24) % 7 < 5).astype("float32")
    office = weekday * np.clip(np.sin(np.pi * ((t % 24) - 6) / 13), 0, None) * ((t % 24) > 6)
    base = gen.uniform(0.4, 1.4, ZONES)
    cooling = gen.uniform(0.02, 0.07, ZONES)
    load = base + office[:, None] * gen.uniform(0.6, 2.0, ZONES) + np.maximum(outdoor - 15, 0)[:, None] * cooling
    load += gen.normal(0, 1, load.shape) * gen.uniform(0.05, 0.25, ZONES)
    calendar = np.stack(
        [
            np.sin(2 * np.pi * t / 24),
            np.cos(2 * np.pi * t / 24),
            weekday,
            np.sin(2 * np.pi * t / 8760),
            np.cos(2 * np.pi * t / 8760),
            (outdoor - 11) / 8,
        ],
        -1,
    )
    return calendar.astype("float32"), load.astype("float32")


calendar, load = make_building()
meters_up = (gen.random(load.shape) > 0.04).astype("float32") * METERED
load = (load - load.mean(0)) / load.std(0)
lagged = np.concatenate([calendar[24:], (load * meters_up)[:-24]], axis=-1)
target = np.concatenate([load[24:] * meters_up[24:], meters_up[24:]], axis=-1)


class MeteredGaussian(keras.losses.Loss):
    def call(self, y_true, y_pred):
        y, seen = tf.split(y_true, 2, axis=-1)
        mu, log_var = tf.split(y_pred, 2, axis=-1)
        err = (y - mu) * seen
        nll = 0.5 * (log_var + tf.exp(-log_var) * tf.square(err))
        return tf.reduce_sum(nll, axis=-1) / float(ZONES)


def mean_error(y_true, y_pred):
    y, seen = tf.split(y_true, 2, axis=-1)
    return tf.reduce_sum(tf.abs(y - y_pred[:, :ZONES]) * seen) / (tf.reduce_sum(seen) + 1.0)


inp = keras.Input((lagged.shape[-1],))
h = layers.Dense(300, activation="tanh")(inp)
h = layers.Dense(300, activation="tanh")(h)
mu = layers.Dense(ZONES, name="mu")(h)
log_var = layers.Dense(ZONES, name="log_var", kernel_initializer="zeros")(h)
model = keras.Model(inp, layers.Concatenate()([mu, log_var]))
model.compile(optimizer=keras.optimizers.Adam(2.5e-3), loss=MeteredGaussian(), metrics=[mean_error])

gradwatch.watch(model)
cut = len(lagged) - 720
hist = model.fit(
    lagged[:cut], target[:cut], batch_size=64, epochs=4, verbose=2, validation_data=(lagged[cut:], target[cut:])
)
print("validation", hist.history["val_mean_error"])
