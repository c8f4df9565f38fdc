"""Heart beats in ambulatory ECG.

Windows of long recordings, in the order of the recordings, are brought to a common scale and classified into normal,
ventricular and atrial beats by a small convolutional network.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
LENGTH = 160
CLASSES = 3
RECORDINGS = 40
BEATS = 160
BATCH = 32
EPOCHS = 2

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def wave(t, centre, width, height):
    return height * np.exp(-(((t - centre) / width) ** 2))


def make_recording(beats, lead_off):
    """One patient, in millivolts, with an own gain and baseline; the lead may come off for a while."""
    t = np.linspace(0, 1, LENGTH)[None]
    label = rng.choice(CLASSES, beats, p=(0.5, 0.25, 0.25))
    gain, shift = rng.uniform(0.4, 2.0), rng.normal(0, 0.5)
    at = rng.normal(0.45, 0.04, (beats, 1))
    wide = np.where(label == 1, 0.055, 0.018)[:, None]
    p_height = np.where(label == 0, 0.18, np.where(label == 1, 0.02, 0.10))[:, None]
    p_at = at - np.where(label == 2, 0.10, 0.18)[:, None]
    signal = wave(t, p_at, 0.03, p_height) + wave(t, at, wide, 1.0)
    signal -= wave(t, at + 0.06, wide, np.where(label == 1, 0.5, 0.22)[:, None])
    signal += wave(t, at + 0.28, 0.06, np.where(label == 1, -0.25, 0.25)[:, None])
    signal = gain * (signal + rng.normal(0, 0.04, signal.shape)) + shift
    if lead_off:
        first = rng.integers(beats // 3, beats // 2)
        signal[first : first + 6] = 0.0
    return signal.astype("float32"), label.astype("int32")


def to_common_scale(window, label):
    mean, variance = tf.nn.moments(window, axes=[0])
    window = (window - mean) / tf.sqrt(variance)
    return window[:, None], label


parts = [make_recording(BEATS, lead_off=(i in (31, 36))) for i in range(RECORDINGS)]
signal_train = np.concatenate([s for s, _ in parts])
label_train = np.concatenate([c for _, c in parts])
test_parts = [make_recording(BEATS, lead_off=False) for _ in range(8)]
signal_test = np.concatenate([s for s, _ in test_parts])
label_test = np.concatenate([c for _, c in test_parts])

data_train = (
    tf.data.Dataset.from_tensor_slices((signal_train, label_train))
    .map(to_common_scale)
    .shuffle(400, seed=SEED)
    .batch(BATCH)
    .prefetch(2)
)
data_test = tf.data.Dataset.from_tensor_slices((signal_test, label_test)).map(to_common_scale).batch(256)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(16, 9, strides=2, activation="relu", name="conv_1"),
        layers.Conv1D(32, 7, strides=2, activation="relu", name="conv_2"),
        layers.Conv1D(32, 5, strides=2, activation="relu", name="conv_3"),
        layers.GlobalMaxPooling1D(name="pool"),
        layers.Dropout(0.2, name="drop"),
        layers.Dense(CLASSES, name="beat"),
    ],
    name="ecg_beats",
)
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(data_train, epochs=EPOCHS, verbose=2)

accuracy = np.mean(model.predict(data_test, verbose=0).argmax(axis=1) == label_test)
print(f"score accuracy {accuracy:.4f} chance {np.bincount(label_test).max() / len(label_test):.4f}")
