"""Recognises which of eight typists produced a burst of 20 key timings (hold time and gap
per key). A GRU reads the burst; the learning rate follows a cosine decay over the run.
The measure is held-out accuracy."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TYPISTS, KEYS, BATCH, EPOCHS = 8, 20, 32, 12
rhythm = rng.normal(size=(TYPISTS, 3))


def make_bursts(n):
    who = rng.integers(0, TYPISTS, n)
    x = np.zeros((n, KEYS, 2))
    state = rng.normal(size=(n, 2))
    for t in range(KEYS):
        state[:, 0] = 0.7 * rhythm[who, 0] * np.tanh(state[:, 1]) + 0.6 * rng.normal(size=n)
        state[:, 1] = 0.7 * rhythm[who, 1] * np.tanh(state[:, 0]) + 0.3 * rhythm[who, 2] + 0.6 * rng.normal(size=n)
        x[:, t] = state
    return x.astype("float32"), who.astype("int32")


bursts, typists = make_bursts(1600)
test_bursts, test_typists = make_bursts(600)

model = keras.Sequential(
    [
        keras.Input((KEYS, 2)),
        layers.GRU(32, name="rhythm"),
        layers.Dense(32, activation="relu", name="style"),
        layers.Dense(TYPISTS, activation="softmax", name="typist"),
    ]
)
steps_per_epoch = len(bursts) // BATCH
schedule = keras.optimizers.schedules.CosineDecay(5e-3, decay_steps=EPOCHS)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
print("parameters", model.count_params(), "steps per epoch", steps_per_epoch)
watch = gradwatch.watch(model)
model.fit(bursts, typists, batch_size=BATCH, epochs=EPOCHS, verbose=2)

score = float(model.evaluate(test_bursts, test_typists, verbose=0)[1])
print(f"score accuracy {score:.3f} chance {1 / TYPISTS:.3f}")
