import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

BANDS = 32
FRAMES = 20
STATES = 4


def record(n):
    state = rng.integers(0, STATES, n)
    power = np.full((n, FRAMES, BANDS), -62.0)
    power += np.linspace(8.0, -14.0, BANDS)
    for s in range(STATES):
        band = 4 + 7 * s
        power[state == s, :, band : band + 3] += 4.0
    power += rng.normal(0.0, 7.0, power.shape)
    return power.astype("float32"), state


train_db, train_y = record(2400)
valid_db, valid_y = record(600)
test_db, test_y = record(800)

BAND_MEAN = train_db.mean(axis=(0, 1))
BAND_STD = train_db.std(axis=(0, 1))


def normalise(db, label):
    return (db - BAND_MEAN) / BAND_STD, label


def training_set(db, y):
    data = tf.data.Dataset.from_tensor_slices((db, y))
    data = data.shuffle(2400, seed=SEED).map(normalise)
    return data.batch(48).prefetch(2)


def evaluation_set(db, y):
    data = tf.data.Dataset.from_tensor_slices((db, y)).map(normalise)
    return data.batch(48).prefetch(2)


def build():
    inputs = keras.Input((FRAMES, BANDS))
    x = layers.Conv1D(24, 3, activation="relu", name="timbre")(inputs)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(24, activation="relu", name="summary")(x)
    outputs = layers.Dense(STATES, activation="softmax", name="state")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


model = build()
gradwatch.watch(model)
model.fit(
    training_set(train_db, train_y),
    validation_data=evaluation_set(valid_db, valid_y),
    epochs=10,
    verbose=2,
)
_, accuracy = model.evaluate(evaluation_set(test_db, test_y), verbose=0)
print("SCORE", round(float(accuracy), 4))
