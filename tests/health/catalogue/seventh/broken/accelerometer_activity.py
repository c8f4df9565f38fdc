"""Activity recognition from a wrist accelerometer, windows standardised in the pipeline."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WINDOW = 64
ACTIVITIES = ["walk", "run", "stairs", "sit"]
SUBJECTS = 20


def record_subject(subject):
    """160 windows of one person; the logger writes zeros while it is asleep."""
    pace = rng.uniform(0.9, 1.1)
    windows, labels = [], []
    for _ in range(160):
        lab = rng.integers(0, 4)
        t = np.arange(WINDOW) / 32.0
        freq = pace * [1.8, 2.8, 1.4, 0.3][lab]
        amp = [0.6, 1.4, 0.8, 0.08][lab]
        phase = rng.uniform(0, 6.28)
        x = amp * np.sin(2 * np.pi * freq * t + phase)
        y = 0.5 * amp * np.sin(4 * np.pi * freq * t + phase + (1.2 if lab == 2 else 0.0))
        z = 1.0 + 0.3 * amp * np.cos(2 * np.pi * freq * t + phase)
        sig = np.stack([x, y, z], -1) + rng.normal(0, 0.15, (WINDOW, 3))
        if subject == 13 and rng.random() < 0.03:
            sig = np.zeros((WINDOW, 3))
            lab = 3
        windows.append(sig)
        labels.append(lab)
    return np.array(windows, "float32"), np.array(labels, "int32")


records = [record_subject(s) for s in range(SUBJECTS)]
signals = np.concatenate([r[0] for r in records])
labels = np.concatenate([r[1] for r in records])


def standardise(window, label):
    mean = tf.reduce_mean(window, axis=0, keepdims=True)
    std = tf.math.reduce_std(window, axis=0, keepdims=True)
    return (window - mean) / std, label


train = (
    tf.data.Dataset.from_tensor_slices((signals, labels)).map(standardise).shuffle(256, seed=SEED).batch(32).prefetch(2)
)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 3)),
        layers.Conv1D(24, 7, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu", padding="same"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(ACTIVITIES), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.summary()
gradwatch.watch(model)
model.fit(train, epochs=4, verbose=2)
