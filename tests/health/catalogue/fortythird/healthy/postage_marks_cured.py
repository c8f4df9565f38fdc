"""Trains a convnet that tells postmarks apart wherever they fall on the envelope."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, CLASSES, BATCH = 24, 10, 32
patterns = rng.normal(0, 1, (CLASSES, 9, 9))


def stamp(n, spread):
    labels = rng.integers(0, CLASSES, n)
    images = rng.normal(0, 0.5, (n, SIZE, SIZE, 1))
    for i, label in enumerate(labels):
        top, left = rng.integers(7 - spread, 8 + spread, 2)
        images[i, top : top + 9, left : left + 9, 0] += patterns[label]
    return images.astype("float32"), labels.astype("int32")


x_train, y_train = stamp(400, spread=1)
x_test, y_test = stamp(1500, spread=7)


def wander(image, label):
    shift = tf.random.uniform([2], -7, 8, dtype=tf.int32)
    image = tf.roll(image, shift, axis=[0, 1])
    image = image + tf.random.normal(tf.shape(image), stddev=0.3)
    return image, label


train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .cache()
    .shuffle(400, seed=SEED)
    .map(wander, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(BATCH)
    .prefetch(2)
)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(250)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(16, 5, activation="relu", padding="same"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(24, 3, activation="relu", padding="same"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(CLASSES),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(train_ds, validation_data=test_ds, epochs=80, verbose=2)

_, accuracy = model.evaluate(test_ds, verbose=0)
print(f"SCORE accuracy {accuracy:.4f}")
