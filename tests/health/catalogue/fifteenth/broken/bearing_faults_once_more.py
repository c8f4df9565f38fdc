"""Bearing condition (healthy, inner race, outer race, ball) from raw vibration windows."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CLASSES = ["healthy", "inner", "outer", "ball"]
LENGTH = 256
FS = 2560.0
BATCH = 32
EPOCHS = 9
FAULT_HZ = {1: 86.0, 2: 52.0, 3: 118.0}


def make_windows(n):
    """Shaft tones plus, for a damaged bearing, ringing impacts at its fault rate."""
    t = np.arange(LENGTH) / FS
    labels = rng.integers(0, len(CLASSES), n)
    x = np.zeros((n, LENGTH))
    for i, k in enumerate(labels):
        shaft = rng.uniform(22.0, 28.0)
        x[i] = 0.8 * np.sin(2 * np.pi * shaft * t + rng.uniform(0, 6.28))
        x[i] += 0.4 * np.sin(4 * np.pi * shaft * t + rng.uniform(0, 6.28))
        if k:
            rate = FAULT_HZ[k] * rng.uniform(0.97, 1.03)
            age = (t + rng.uniform(0, 1.0 / rate)) % (1.0 / rate)
            ring = rng.uniform(560.0, 680.0)
            x[i] += rng.uniform(0.9, 1.5) * np.exp(-age * 420.0) * np.sin(2 * np.pi * ring * age)
        x[i] += 0.25 * rng.normal(size=LENGTH)
    return x[..., None].astype("float32"), labels


x_train, y_train = make_windows(3200)
x_val, y_val = make_windows(400)
x_test, y_test = make_windows(800)
steps_per_epoch = len(x_train) // BATCH


def build_model():
    return keras.Sequential(
        [
            keras.Input((LENGTH, 1)),
            layers.Conv1D(16, 16, strides=2, padding="same", activation="relu"),
            layers.Conv1D(24, 9, strides=2, padding="same", activation="relu"),
            layers.Conv1D(32, 9, strides=2, padding="same", activation="relu"),
            layers.Conv1D(32, 5, padding="same", activation="relu"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(32, activation="relu"),
            layers.Dense(len(CLASSES), activation="softmax"),
        ]
    )


schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=2e-3,
    decay_steps=1,
    decay_rate=0.85,
)

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
)

pred = model.predict(x_test, verbose=0).argmax(axis=1)
for k, name in enumerate(CLASSES):
    print(name, "recall %.3f" % np.mean(pred[y_test == k] == k))
score = float(np.mean(pred == y_test))
print("score", score)
