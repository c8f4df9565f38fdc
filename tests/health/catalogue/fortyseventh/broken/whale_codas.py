"""Trains a classifier of sperm whale clans from the click rhythm of four clips cut out of each recording."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLANS, CLIPS, FRAMES = 5, 4, 64
RHYTHMS = [
    [0, 10, 20, 30, 40],
    [0, 5, 10, 25, 40],
    [0, 14, 28, 33, 38],
    [0, 8, 24, 32, 40],
    [0, 18, 22, 26, 44],
]


def clip(clan):
    tempo = rng.uniform(0.9, 1.1)
    start = rng.integers(2, 14)
    track = rng.normal(0.0, 0.25, FRAMES)
    for click in RHYTHMS[clan]:
        at = round(start + tempo * click + rng.normal(0, 0.4))
        if 0 <= at < FRAMES:
            track[at] += rng.uniform(0.9, 1.6)
    return track


def recordings(n):
    clan = rng.integers(0, CLANS, n)
    sound = np.stack([[clip(c) for _ in range(CLIPS)] for c in clan])
    return sound.astype("float32"), clan.astype("int32")


def clip_dataset(sound, clan, batch):
    """One example per clip, each with the clan of its recording."""
    clips = sound.reshape(-1, FRAMES, 1)
    labels = np.tile(clan, CLIPS)
    ds = tf.data.Dataset.from_tensor_slices((clips, labels))
    return ds.shuffle(len(labels), seed=seed).batch(batch).prefetch(2)


train_sound, train_clan = recordings(1500)
test_sound, test_clan = recordings(300)

model = keras.Sequential(
    [
        keras.Input((FRAMES, 1)),
        layers.Conv1D(24, 9, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 9, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(48, 9, padding="same", activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(CLANS),
    ],
    name="clans",
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(clip_dataset(train_sound, train_clan, 64), epochs=12, verbose=2)

logits = model.predict(test_sound.reshape(-1, FRAMES, 1), verbose=0)
vote = logits.reshape(len(test_clan), CLIPS, CLANS).mean(axis=1).argmax(axis=-1)
print("SCORE recording_accuracy", float((vote == test_clan).mean()))
