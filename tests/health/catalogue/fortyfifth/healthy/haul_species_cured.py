"""Trains a classifier that names the main species of a fishing haul from its sonar profile."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SPECIES = ["herring", "mackerel", "sprat", "cod", "saithe", "lumpfish"]
SHARES = [0.33, 0.26, 0.18, 0.12, 0.08, 0.03]
BINS = 48


def make_hauls(n, rng):
    depth = np.linspace(0.0, 1.0, BINS)
    species = rng.choice(len(SPECIES), size=n, p=SHARES)
    centre = np.array([0.25, 0.33, 0.42, 0.68, 0.58, 0.80])[species] + rng.normal(0, 0.03, n)
    width = np.array([0.06, 0.09, 0.05, 0.10, 0.07, 0.04])[species]
    echo = np.exp(-0.5 * ((depth[None] - centre[:, None]) / width[:, None]) ** 2)
    bottom = 0.5 * np.exp(-(((depth[None] - 0.95) / 0.03) ** 2))
    strength = rng.uniform(0.6, 1.4, (n, 1))
    profile = strength * echo + bottom + rng.normal(0, 0.25, (n, BINS))
    return profile.astype("float32"), species.astype("int32")


rng = np.random.default_rng(SEED)
x, y = make_hauls(9000, rng)
x_test, y_test = make_hauls(3000, rng)
mean, std = x.mean(axis=0), x.std(axis=0)
x, x_test = (x - mean) / std, (x_test - mean) / std


def species_loss(y_true, y_pred):
    """Cross-entropy averaged per species first, so that rare species weigh as much as common ones."""
    y_true = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
    member = tf.one_hot(y_true, len(SPECIES))
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    total = tf.reduce_sum(member * ce[:, None], axis=0)
    per_species = tf.math.divide_no_nan(total, tf.reduce_sum(member, axis=0))
    return tf.reduce_mean(per_species)


model = keras.Sequential(
    [
        keras.Input((BINS,)),
        layers.Reshape((BINS, 1)),
        layers.Conv1D(16, 7, activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(SPECIES)),
    ]
)
model.compile(keras.optimizers.Adam(5e-4), loss=species_loss, metrics=["accuracy"])
gradwatch.watch(model)

model.fit(x, y, batch_size=128, epochs=12, verbose=2, validation_data=(x_test, y_test))

guess = np.argmax(model.predict(x_test, verbose=0), axis=1)
recall = [np.mean(guess[y_test == k] == k) for k in range(len(SPECIES))]
for name, r in zip(SPECIES, recall):
    print(f"{name:10s} recall {r:.3f}")
print(f"SCORE balanced_accuracy {np.mean(recall):.4f}")
