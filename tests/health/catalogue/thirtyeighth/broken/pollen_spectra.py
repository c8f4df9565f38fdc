"""Learns an embedding of pollen fluorescence spectra without labels (two augmented views, InfoNCE), judged by nearest neighbours."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BINS, CLASSES, BATCH, STEPS = 64, 8, 64, 700
axis = np.linspace(0, 1, BINS)
templates = np.zeros((CLASSES, BINS))
for c in range(CLASSES):
    for _ in range(4):
        templates[c] += rng.uniform(0.15, 0.3) * np.exp(-(((axis - rng.uniform(0.1, 0.9)) / 0.04) ** 2))


def measure(n):
    y = rng.integers(0, CLASSES, n)
    gain = rng.uniform(0.6, 1.6, (n, 1))
    slope = rng.normal(0, 1.5, (n, 1)) * (axis - 0.5) + rng.normal(0, 1.0, (n, 1))
    bend = rng.normal(0, 3.0, (n, 1)) * (axis - 0.5) ** 2
    x = gain * templates[y] + slope + bend + rng.normal(0, 0.08, (n, BINS))
    return x.astype("float32"), y


x_train, y_train = measure(4000)
x_test, y_test = measure(1000)
grid = tf.constant(axis - 0.5, tf.float32)


def augment(x, seed):
    n = tf.shape(x)[0]
    r = tf.random.stateless_normal((n, 4), seed)
    drift = 1.5 * r[:, :1] * grid + r[:, 1:2] + 3.0 * r[:, 2:3] * grid**2
    jitter = tf.random.stateless_normal(tf.shape(x), seed + 7)
    return x * tf.exp(0.2 * r[:, 3:]) + drift + 0.1 * jitter


encoder = keras.Sequential(
    [
        keras.Input((BINS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(128, activation="relu"),
        layers.Dense(32),
    ]
)
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder)


@tf.function
def train_step(x, step):
    key = tf.stack([step, seed])
    with tf.GradientTape() as tape:
        z1 = tf.math.l2_normalize(encoder(augment(x, key), training=True), axis=1)
        z2 = tf.math.l2_normalize(encoder(augment(x, key), training=True), axis=1)
        logits = tf.matmul(z1, z2, transpose_b=True) / 0.2
        target = tf.range(tf.shape(x)[0])
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(target, logits, from_logits=True))
        loss += tf.reduce_mean(
            keras.losses.sparse_categorical_crossentropy(target, tf.transpose(logits), from_logits=True)
        )
    grads = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(STEPS):
    rows = rng.integers(0, len(x_train), BATCH)
    loss = train_step(tf.constant(x_train[rows]), tf.constant(step, tf.int32))
    if step % 100 == 0:
        print(step, float(loss))

norm = lambda a: a / np.linalg.norm(a, axis=1, keepdims=True)
bank = norm(encoder.predict(x_train, verbose=0))
query = norm(encoder.predict(x_test, verbose=0))
near = np.argsort(-query @ bank.T, axis=1)[:, :5]
votes = np.array([np.bincount(y_train[r], minlength=CLASSES).argmax() for r in near])
print("SCORE knn_accuracy", round(float(np.mean(votes == y_test)), 4))
