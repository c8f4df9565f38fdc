"""Tumours told benign from malignant, by ten measures and by how much each grows from its mean to its worst cell.

A growth is a division, and a few smooth tumours have a concavity of 0 throughout: 0 / 0 is NaN. Nobody looked. The
first batch with one of those rows ends the training.
"""

import sys

import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import gradwatch

JIT = "--jit" in sys.argv
BATCH_SIZE = 8
EPOCHS = 10
LEARNING_RATE = 0.003

keras.utils.set_random_seed(0)
rows, is_benign = load_breast_cancer(return_X_y=True)
mean, worst = tf.constant(rows[:, :10], tf.float32), tf.constant(rows[:, 20:], tf.float32)
growth = worst / mean
features = tf.concat([mean / tf.reduce_max(mean, axis=0), growth], axis=1).numpy()
train, test, train_labels, test_labels = train_test_split(
    features, is_benign, test_size=169, random_state=0, stratify=is_benign
)

model = keras.Sequential(
    [
        keras.Input((features.shape[1],)),
        layers.Dense(32, activation="relu", name="hidden_1"),
        layers.Dense(16, activation="relu", name="hidden_2"),
        layers.Dense(1, name="benign"),
    ],
    name="tumours",
)
model.compile(
    optimizer=keras.optimizers.Adam(LEARNING_RATE),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
    jit_compile=JIT,
)
gradwatch.watch(
    model,
    name="tumours",
    config={
        "steps": EPOCHS * len(train) // BATCH_SIZE,
        "batch_size": BATCH_SIZE,
        "learning_rate": LEARNING_RATE,
    },
)
model.fit(train, train_labels, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0)

_, accuracy = model.evaluate(test, test_labels, verbose=0)
print(f"accuracy on {len(test)} tumours never seen: {accuracy:.1%}")
