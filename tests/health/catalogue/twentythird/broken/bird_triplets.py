"""Embed bird call spectrograms so that calls of one species lie together (triplets mined in the batch)."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SPECIES, FRAMES, BANDS = 12, 24, 16
base = rng.uniform(2, BANDS - 3, SPECIES)
sweep = rng.uniform(-5, 5, SPECIES)
rate = rng.uniform(0.2, 1.5, SPECIES)
time_axis = np.linspace(0, 1, FRAMES)
bands = np.arange(BANDS)


def call(species):
    shift = rng.normal(0, 0.25)
    centre = base[species] + shift + sweep[species] * time_axis
    centre = centre + 1.2 * np.sin(rate[species] * 8 * time_axis + rng.normal(0, 0.3))
    spec = np.exp(-0.5 * ((bands[None] - centre[:, None]) / 1.1) ** 2)
    return spec * rng.uniform(0.8, 1.2) + 0.12 * rng.normal(size=spec.shape)


def make_calls(per_species):
    y = np.repeat(np.arange(SPECIES), per_species)
    x = np.stack([call(s) for s in y])
    return x.astype("float32"), y.astype("int32")


x_train, y_train = make_calls(200)
x_test, y_test = make_calls(40)

encoder = keras.Sequential(
    [
        keras.Input((FRAMES, BANDS)),
        keras.layers.Conv1D(32, 3, activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Bidirectional(keras.layers.GRU(24)),
        keras.layers.Dense(16),
        keras.layers.UnitNormalization(axis=-1),
    ]
)
optimizer = keras.optimizers.Adam(1.5e-3)
MARGIN = 0.3


def triplet_loss(z, y):
    dist = 2.0 - 2.0 * tf.matmul(z, z, transpose_b=True)
    same = tf.equal(y[:, None], y[None, :])
    positive = tf.logical_and(same, tf.logical_not(tf.eye(tf.shape(y)[0], dtype=tf.bool)))
    valid = tf.logical_and(positive[:, :, None], tf.logical_not(same)[:, None, :])
    violation = dist[:, :, None] - dist[:, None, :] + MARGIN
    active = tf.cast(tf.logical_and(valid, violation > 0.0), tf.float32)
    return tf.reduce_sum(active * violation) / tf.reduce_sum(active)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = triplet_loss(encoder(x, training=True), y)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


gradwatch.watch(encoder)
for step in range(700):
    pick = rng.choice(len(x_train), 48, replace=False)
    loss = train_step(tf.constant(x_train[pick]), tf.constant(y_train[pick]))
    if step % 100 == 0:
        print("step", step, "loss", round(float(loss), 4))

z_train = encoder.predict(x_train, batch_size=400, verbose=0)
z_test = encoder.predict(x_test, batch_size=400, verbose=0)
nearest = (z_test @ z_train.T).argmax(1)
print("SCORE retrieval_accuracy", round(float((y_train[nearest] == y_test).mean()), 4))
