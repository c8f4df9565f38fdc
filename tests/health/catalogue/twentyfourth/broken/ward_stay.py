"""Length of a hospital stay from coded diagnoses (a varying number) and vital signs."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CODES, MAX_CODES = 150, 16
burden = rng.gamma(1.0, 0.8, CODES)


def make_patients(n):
    count = np.minimum(rng.poisson(7.0, n), MAX_CODES)
    codes = rng.integers(1, CODES, (n, MAX_CODES))
    codes = np.where(np.arange(MAX_CODES) < count[:, None], codes, 0)
    vitals = rng.normal(0, 1, (n, 5))
    mean_burden = (burden[codes] * (codes > 0)).sum(axis=1) / np.maximum(count, 1)
    log_days = 0.5 + 1.5 * mean_burden + 0.4 * np.maximum(vitals[:, 0], 0) + 0.3 * vitals[:, 1] * vitals[:, 2]
    log_days = log_days + rng.normal(0, 0.15, n)
    return codes.astype("int32"), vitals.astype("float32"), log_days.astype("float32")


class MeanOfCodes(layers.Layer):
    def __init__(self, dim, **kwargs):
        super().__init__(**kwargs)
        self.embedding = layers.Embedding(CODES, dim)

    def call(self, codes):
        present = tf.cast(tf.not_equal(codes, 0), tf.float32)[:, :, tf.newaxis]
        total = tf.reduce_sum(self.embedding(codes) * present, axis=1)
        return total / tf.reduce_sum(present, axis=1)


codes_train, vitals_train, y_train = make_patients(6000)
codes_test, vitals_test, y_test = make_patients(1200)

codes = keras.Input((MAX_CODES,), dtype="int32")
vitals = keras.Input((5,))
h = layers.Concatenate()([MeanOfCodes(16)(codes), vitals])
h = layers.Dense(64, activation="swish")(h)
h = layers.Dense(32, activation="swish")(h)
outputs = layers.Dense(1)(h)
model = keras.Model([codes, vitals], outputs)

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.Huber())
gradwatch.watch(model)
model.fit(
    [codes_train, vitals_train],
    y_train,
    batch_size=64,
    epochs=12,
    validation_split=0.1,
    verbose=2,
)

pred = model.predict([codes_test, vitals_test], verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
