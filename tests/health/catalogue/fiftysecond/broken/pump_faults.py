"""Tell the fault of a pump from vibration snippets.  A few snippets were lost on the way and hold gaps."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH = 128
STATES = ["good", "unbalance", "bearing", "cavitation", "loose foot"]


def snippet(state):
    t = np.arange(LENGTH) / LENGTH
    speed = rng.uniform(6, 9)
    phase = rng.uniform(0, 2 * np.pi, 4)
    wave = 0.6 * np.sin(2 * np.pi * speed * t + phase[0])
    if state == 1:
        wave = wave * 2.6
    elif state == 2:
        ring = (np.sin(2 * np.pi * 3.6 * speed * t + phase[1]) > 0.93) * 2.0
        wave = wave + ring
    elif state == 3:
        wave = wave + 0.8 * rng.normal(size=LENGTH)
    elif state == 4:
        wave = wave + 0.9 * np.sin(np.pi * speed * t + phase[2]) + 0.5 * np.sin(3 * np.pi * speed * t + phase[3])
    return wave + 0.25 * rng.normal(size=LENGTH)


def collect(n):
    states = rng.integers(0, len(STATES), n)
    waves = np.stack([snippet(s) for s in states]).astype("float32")[..., None]
    return waves, states.astype("int32")


waves, states = collect(5000)
lost = rng.random(len(waves)) < 0.03
start = rng.integers(0, LENGTH - 20, len(waves))
for i in np.flatnonzero(lost):
    waves[i, start[i] : start[i] + 20] = np.nan
test_waves, test_states = collect(1000)


def complete(wave, *_):
    return tf.reduce_all(tf.math.is_finite(wave))


wave_source = tf.data.Dataset.from_tensor_slices(waves)
state_source = tf.data.Dataset.from_tensor_slices(states)
recordings = tf.data.Dataset.zip((wave_source.filter(complete), state_source))
recordings = recordings.cache().shuffle(5000, seed=SEED).batch(64).prefetch(2)

inputs = keras.Input((LENGTH, 1))
h = layers.Conv1D(24, 9, strides=2, activation="relu", name="shape")(inputs)
h = layers.BatchNormalization(name="bn_1")(h)
h = layers.Conv1D(32, 7, strides=2, activation="relu", name="rhythm")(h)
h = layers.BatchNormalization(name="bn_2")(h)
average = layers.GlobalAveragePooling1D()(h)
peak = layers.GlobalMaxPooling1D()(h)
h = layers.Concatenate()([average, peak])
h = layers.Dense(32, activation="relu", name="judge")(h)
outputs = layers.Dense(len(STATES), name="fault")(h)
model = keras.Model(inputs, outputs, name="pump")
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(recordings, epochs=10, verbose=2)

_, accuracy = model.evaluate(test_waves, test_states, verbose=0)
print(f"SCORE test_accuracy {accuracy:.4f}")
