"""Trains a rare-leak detector on acoustic pipe records over a fixed wavelet front end."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SAMPLES, TAPS, FILTERS, BATCH, EPOCHS = 256, 33, 16, 64, 10
SITES = 2000


def make_records(count):
    leak = (rng.uniform(size=count) < 0.03).astype("float32")
    t = np.arange(SAMPLES)
    x = rng.normal(0, 1, (count, SAMPLES))
    x += np.sin(2 * np.pi * rng.uniform(0.02, 0.08, (count, 1)) * t + rng.uniform(0, 6, (count, 1)))
    pitch = rng.uniform(0.24, 0.32, (count, 1))
    hiss = np.sin(2 * np.pi * pitch * t + 3 * np.sin(2 * np.pi * 0.01 * t))
    x += leak[:, None] * rng.uniform(0.6, 1.1, (count, 1)) * hiss
    site = rng.zipf(1.6, count) % SITES
    return x.astype("float32")[..., None] / 1.3, site.astype("int32"), leak


def wavelets():
    t = np.arange(TAPS) - TAPS // 2
    freqs = np.linspace(0.02, 0.45, FILTERS)
    bank = np.cos(2 * np.pi * freqs[None] * t[:, None]) * np.hanning(TAPS)[:, None]
    return (bank / np.linalg.norm(bank, axis=0)).astype("float32")[:, None, :]


x_train, s_train, y_train = make_records(9600)
x_test, s_test, y_test = make_records(4000)

wave_in, site_in = keras.Input((SAMPLES, 1)), keras.Input((), dtype="int32")
front_end = layers.Conv1D(FILTERS, TAPS, strides=4, use_bias=False, name="front_end", trainable=False)
h = front_end(wave_in)
front_end.set_weights([wavelets()])
h = layers.Lambda(lambda z: tf.math.log(tf.square(z) + 0.1))(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.BatchNormalization()(h)
site = layers.Embedding(SITES, 4)(site_in)
h = layers.Dense(32, activation="relu")(layers.Concatenate()([h, site]))
h = layers.Dense(16, activation="relu")(h)
model = keras.Model([wave_in, site_in], layers.Dense(1)(h))

steps = len(x_train) // BATCH
schedule = keras.optimizers.schedules.CosineDecay(
    0.0, decay_steps=(EPOCHS - 1) * steps, warmup_target=0.15, warmup_steps=steps
)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.8), loss=keras.losses.BinaryCrossentropy(from_logits=True)
)
gradwatch.watch(model)

share = y_train.mean()
model.fit(
    [x_train, s_train],
    y_train[:, None],
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
    class_weight={0: 0.5 / (1 - share), 1: 0.5 / share},
)

score = model.predict([x_test, s_test], batch_size=500, verbose=0)[:, 0]
order = np.argsort(-score)
hits = y_test[order]
precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
print("leak share", float(y_test.mean()))
print("SCORE average_precision", float(np.sum(precision * hits) / hits.sum()))
