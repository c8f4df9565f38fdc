"""Which of the seven strings of a small harp was plucked?  One file per take, one table of strings."""

import csv
import glob
import os
import tempfile

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
TAKES, LENGTH, STRINGS = 1800, 256, 7


def pluck(string):
    t = np.arange(LENGTH) / LENGTH
    pitch = 9.0 * 2 ** (string / 7.0) * (1 + rng.normal(0, 0.008))
    sound = sum(rng.uniform(0.3, 1.0) / k * np.sin(2 * np.pi * k * pitch * t + rng.uniform(0, 6.28)) for k in (1, 2, 3))
    sound = sound * np.exp(-rng.uniform(1.0, 3.0) * t)
    return (sound + rng.normal(0, 0.15, LENGTH)).astype("float32")


def record(folder):
    """Write the session to disk: take_0.npy, take_1.npy, ... and strings.csv in the order of playing."""
    played = rng.integers(0, STRINGS, TAKES)
    with open(os.path.join(folder, "strings.csv"), "w", newline="") as handle:
        table = csv.writer(handle)
        table.writerow(["string"])
        for number, string in enumerate(played):
            np.save(os.path.join(folder, f"take_{number}.npy"), pluck(string))
            table.writerow([string])


def load(folder):
    paths = sorted(glob.glob(os.path.join(folder, "take_*.npy")), key=lambda p: int(p.split("_")[-1][:-4]))
    sounds = np.stack([np.load(path) for path in paths])
    with open(os.path.join(folder, "strings.csv")) as handle:
        strings = np.array([int(row["string"]) for row in csv.DictReader(handle)])
    return sounds[..., None], strings


with tempfile.TemporaryDirectory() as session:
    record(session)
    sounds, strings = load(session)
print("takes", sounds.shape, "per string", np.bincount(strings))

order = rng.permutation(TAKES)
sounds, strings = sounds[order], strings[order]
held = 300
model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(24, 15, strides=2, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 9, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(48, 5, padding="same", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(STRINGS, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(
    sounds[held:], strings[held:], validation_data=(sounds[:held], strings[:held]), batch_size=32, epochs=25, verbose=2
)
loss, accuracy = model.evaluate(sounds[:held], strings[:held], verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
