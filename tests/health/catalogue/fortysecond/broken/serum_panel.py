"""Trains a diagnosis classifier on a panel of serum proteins."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PROTEINS, PATHWAYS, CLASSES, BATCH = 80, 10, 4, 64
loadings = rng.normal(0, 1, (PATHWAYS, PROTEINS)) * (rng.uniform(size=(PATHWAYS, PROTEINS)) < 0.3)
profiles = rng.normal(0, 1.1, (CLASSES, PATHWAYS))


def make_patients(count):
    diagnosis = rng.integers(0, CLASSES, count)
    activity = profiles[diagnosis] + rng.normal(0, 1, (count, PATHWAYS))
    activity += 0.25 * activity * np.roll(activity, 1, axis=1)
    levels = np.exp(0.3 * activity @ loadings + rng.normal(0, 0.3, (count, PROTEINS)))
    return levels.astype("float32"), diagnosis


def log_scale(levels, stats=None):
    logged = np.log(levels)
    if stats is None:
        stats = logged.mean(0), logged.std(0)
    return (logged - stats[0]) / stats[1], stats


levels_train, y_train = make_patients(6404)
levels_test, y_test = make_patients(1000)
x_train, stats = log_scale(levels_train)
x_test, _ = log_scale(levels_test, stats)


def dense_block(h, units):
    h = layers.Dense(units, use_bias=False)(h)
    h = layers.BatchNormalization(momentum=0.1, epsilon=1e-5)(h)
    return layers.Activation("relu")(h)


inputs = keras.Input((PROTEINS,))
h = dense_block(inputs, 64)
h = dense_block(h, 64)
h = dense_block(h, 32)
outputs = layers.Dense(CLASSES, activation="softmax")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.SGD(0.02, momentum=0.9, nesterov=True),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=BATCH, epochs=14, validation_data=(x_test, y_test), verbose=2)

probs = model.predict(x_test, batch_size=250, verbose=0)
print("SCORE accuracy", float(np.mean(probs.argmax(-1) == y_test)))
