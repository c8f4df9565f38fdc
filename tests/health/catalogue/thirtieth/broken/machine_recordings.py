"""Recognises the operating state of packaging machines from short vibration windows stored in one shard per machine."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STATES = np.array(["cleaning", "coasting", "feeding", "idle", "jammed", "packing", "sealing", "startup"])
N_MACHINES, PER_MACHINE, T = 40, 80, 64
BATCH, EPOCHS = 32, 12

tones = rng.uniform(1.5, 14, (len(STATES), 2))
gains = rng.uniform(0.5, 1.3, (len(STATES), 2))
clock = np.arange(T) / T


def record(n, states):
    idx = rng.choice(states, n)
    phase = rng.uniform(0, 2 * np.pi, (n, 2, 1))
    wobble = 1 + 0.03 * rng.normal(size=(n, 2, 1))
    waves = gains[idx][:, :, None] * np.sin(2 * np.pi * tones[idx][:, :, None] * wobble * clock + phase)
    x = waves.sum(1) + 0.5 * rng.normal(size=(n, T))
    return {"signal": x.astype("float32")[..., None], "state": STATES[idx]}


# a machine does not pass through all states within its recording
shards = []
for m in range(N_MACHINES):
    seen = rng.choice(len(STATES), rng.integers(4, 8), replace=False)
    shards.append(record(PER_MACHINE, seen))
test = record(800, np.arange(len(STATES)))
x_test = test["signal"]
y_test = np.searchsorted(STATES, test["state"])


def read_shards():
    for m in rng.permutation(N_MACHINES):
        shard = shards[m]
        _, labels = np.unique(shard["state"], return_inverse=True)
        yield from zip(shard["signal"], labels)


train_ds = (
    tf.data.Dataset.from_generator(
        read_shards,
        output_signature=(tf.TensorSpec((T, 1), tf.float32), tf.TensorSpec((), tf.int32)),
    )
    .shuffle(N_MACHINES * PER_MACHINE, seed=seed)
    .batch(BATCH)
    .prefetch(2)
)

model = keras.Sequential(
    [
        layers.Input((T, 1)),
        layers.Conv1D(24, 9, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 9, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(STATES), activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train_ds, epochs=EPOCHS, verbose=0)
_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))
