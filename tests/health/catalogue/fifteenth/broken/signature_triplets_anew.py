"""Signature verification: an embedding in which one writer's signatures lie together."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_WRITERS, PER_WRITER, DIM = 30, 1500, 32
STEPS = 700
BATCH = 24

style = rng.normal(size=(N_WRITERS, 6))
mixing = rng.normal(size=(6, DIM)) / np.sqrt(6)
nuisance = rng.normal(size=(8, DIM)) / np.sqrt(8)


def scans(n):
    z = style[:, None, :] + 0.35 * rng.normal(size=(N_WRITERS, n, 6))
    x = np.tanh(z @ mixing) + 1.2 * np.tanh(rng.normal(size=(N_WRITERS, n, 8)) @ nuisance)
    x += 0.1 * rng.normal(size=x.shape)
    return x.astype("float32")


train = scans(PER_WRITER)
test = scans(40)


def sample_triplets(data, n):
    writers, per = data.shape[:2]
    a = rng.integers(writers, size=n)
    b = (a + rng.integers(1, writers, size=n)) % writers
    anchor = data[a, rng.integers(per, size=n)]
    positive = data[a, rng.integers(per, size=n)]
    negative = data[b, rng.integers(per, size=n)]
    return anchor, positive, negative


encoder = keras.Sequential(
    [
        keras.layers.Input((DIM,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(16),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(encoder, optimizer)


def euclidean(u, v):
    return tf.sqrt(tf.reduce_sum(tf.square(u - v), axis=1))


def triplet_loss(anchor, positive, negative):
    d_pos = euclidean(anchor, positive)
    d_neg = euclidean(anchor, negative)
    return tf.reduce_mean(tf.nn.softplus(d_pos - d_neg))


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        loss = triplet_loss(
            encoder(anchor, training=True),
            encoder(positive, training=True),
            encoder(negative, training=True),
        )
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(*map(tf.constant, sample_triplets(train, BATCH)))
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

anchor, positive, negative = [encoder(part) for part in sample_triplets(test, 4000)]
d_pos = euclidean(anchor, positive).numpy()
d_neg = euclidean(anchor, negative).numpy()
print("score", round(float(np.mean(d_pos < d_neg)), 4))
