import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

GENRES, FRAMES, BANDS = 6, 20, 12
N_TRAIN, N_TEST = 4800, 1200
BATCH = 64
EPOCHS = 8


def record(count, centres, tempo):
    genre = rng.integers(0, GENRES, count)
    time = np.arange(FRAMES)[None, :, None]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    beat = np.sin(tempo[genre][:, None, None] * time + phase)
    clips = 0.6 * centres[genre][:, None, :] * beat + rng.normal(0, 1.0, (count, FRAMES, BANDS))
    return clips.astype("float32"), genre.astype("int32")


centres = rng.normal(0, 1, (GENRES, BANDS))
tempo = np.linspace(0.3, 1.5, GENRES)
x_train, y_train = record(N_TRAIN, centres, tempo)
x_test, y_test = record(N_TEST, centres, tempo)

steps_per_epoch = N_TRAIN // BATCH
train_data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(N_TRAIN, seed=SEED)
    .batch(BATCH, drop_remainder=True)
    .prefetch(2)
)
test_data = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(256)

schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=3e-3,
    decay_steps=2,
    decay_rate=0.6,
    staircase=True,
)

model = keras.Sequential(
    [
        keras.Input((FRAMES, BANDS)),
        keras.layers.Conv1D(24, 5, padding="same", activation="relu", name="onsets"),
        keras.layers.MaxPooling1D(2, name="halve"),
        keras.layers.Conv1D(32, 3, padding="same", activation="relu", name="phrases"),
        keras.layers.GlobalAveragePooling1D(name="pool"),
        keras.layers.Dense(32, activation="relu", name="style"),
        keras.layers.Dense(GENRES, activation="softmax", name="genre"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train_data, epochs=EPOCHS, verbose=0)

_, accuracy = model.evaluate(test_data, verbose=0)
print("SCORE", float(accuracy))
