import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 37)


def spirals(n, classes=3):
    labels = rng.integers(0, classes, n)
    radius = rng.uniform(0.1, 1.0, n)
    theta = 9.0 * radius + 2 * np.pi * labels / classes + rng.normal(0, 0.3, n)
    points = np.stack([radius * np.cos(theta), radius * np.sin(theta)], axis=1)
    return points.astype("float32") * 2.0, labels.astype("int32")


x_train, y_train = spirals(4000)
x_test, y_test = spirals(1000)

BATCH_SIZE = 64
dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4000, seed=SEED, reshuffle_each_iteration=True)
    .batch(BATCH_SIZE, drop_remainder=True)
)
steps_per_epoch = len(x_train) // BATCH_SIZE

schedule = keras.optimizers.schedules.CosineDecayRestarts(
    initial_learning_rate=0.15,
    first_decay_steps=5 * steps_per_epoch,
    t_mul=2.0,
    m_mul=0.9,
    alpha=1e-3,
)
optimizer = keras.optimizers.SGD(learning_rate=schedule, momentum=0.9, nesterov=True, clipnorm=1.0)

model = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(64, activation="relu", kernel_initializer="he_normal"),
        layers.Dense(64, activation="relu", kernel_initializer="he_normal"),
        layers.Dense(3),
    ]
)
model.compile(
    optimizer=optimizer,
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(dataset, epochs=35, validation_data=(x_test, y_test), verbose=2)

accuracy = np.mean(model.predict(x_test, verbose=0).argmax(axis=1) == y_test)
print("SCORE", round(float(accuracy), 4))
