"""Remove sensor noise from vibration snippets with a denoising conv1d autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
LENGTH, BATCH, SIGMA = 64, 32, 0.6


def snippets(n):
    t = np.linspace(0, 1, LENGTH)[None]
    out = np.zeros((n, LENGTH))
    for _ in range(3):
        freq = rng.uniform(1, 6, (n, 1))
        out += rng.normal(0, 0.6, (n, 1)) * np.sin(2 * np.pi * (freq * t + rng.uniform(0, 1, (n, 1))))
    bump = rng.uniform(0.1, 0.9, (n, 1))
    out += rng.uniform(0.5, 1.5, (n, 1)) * np.exp(-(((t - bump) / 0.05) ** 2))
    return out.astype("float32")[..., None]


train, test = snippets(4000), snippets(600)

inputs = layers.Input((LENGTH, 1))
h = layers.Conv1D(24, 7, padding="same", activation="relu")(inputs)
skip = h
h = layers.Conv1D(32, 5, strides=2, padding="same", activation="relu")(h)
h = layers.Conv1D(48, 5, strides=2, padding="same", activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(128, activation="relu")(h)
h = layers.Dense(LENGTH * 8, activation="relu")(h)
h = layers.Reshape((LENGTH, 8))(h)
h = layers.Concatenate()([h, skip])
h = layers.Conv1D(24, 5, padding="same", activation="relu")(h)
outputs = layers.Conv1D(1, 5, padding="same")(h)
model = keras.Model(inputs, outputs)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(2e-3)
dataset = (
    tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=seed).batch(BATCH, drop_remainder=True).prefetch(2)
)


def corrupt(clean):
    noise = np.random.normal(0.0, SIGMA, size=clean.shape).astype("float32")
    return clean + noise


@tf.function
def train_step(clean):
    noisy = corrupt(clean)
    with tf.GradientTape() as tape:
        restored = model(noisy, training=True)
        loss = tf.reduce_mean(tf.square(restored - clean))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(6):
    losses = []
    for batch in dataset:
        losses.append(float(train_step(batch)))
    print("epoch %d  mse %.4f" % (epoch, np.mean(losses)))

noisy_test = test + rng.normal(0, SIGMA, test.shape).astype("float32")
restored = model.predict(noisy_test, batch_size=200, verbose=0)
before = 10 * np.log10(np.mean(test**2) / np.mean((noisy_test - test) ** 2))
after = 10 * np.log10(np.mean(test**2) / np.mean((restored - test) ** 2))
print("snr before %.2f dB, after %.2f dB" % (before, after))
print("SCORE snr_gain_db %.3f" % (after - before))
