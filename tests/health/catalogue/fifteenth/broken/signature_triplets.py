"""Signature verification by a triplet embedding of pen-stroke descriptors."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_WRITERS = 60
TRAIN_WRITERS = 45
PER_WRITER = 300
DIM = 32
STYLE = 6
MARGIN = 3.0
BATCH = 32
STEPS = 900

mix_style = rng.normal(size=(STYLE, DIM)) / np.sqrt(STYLE)
mix_mood = rng.normal(size=(8, DIM)) / np.sqrt(8)


def make_signatures():
    """Descriptors (writer, sample, DIM): a writer's style blended with the day's pen and pace."""
    style = rng.normal(size=(N_WRITERS, 1, STYLE))
    day = rng.normal(size=(N_WRITERS, PER_WRITER, 8))
    jitter = 0.15 * rng.normal(size=(N_WRITERS, PER_WRITER, STYLE))
    x = np.tanh((style + jitter) @ mix_style) + 1.2 * day @ mix_mood
    x += 0.05 * rng.normal(size=x.shape)
    return x.astype("float32")


signatures = make_signatures()


def draw_triplets(writers, n):
    """Anchor and positive by one writer, negative by another."""
    two = np.stack([rng.choice(writers, size=2, replace=False) for _ in range(n)])
    anchor = signatures[two[:, 0], rng.integers(0, PER_WRITER, n)]
    positive = signatures[two[:, 0], rng.integers(0, PER_WRITER, n)]
    negative = signatures[two[:, 1], rng.integers(0, PER_WRITER, n)]
    return tf.constant(anchor), tf.constant(positive), tf.constant(negative)


encoder = keras.Sequential(
    [
        keras.Input((DIM,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(16),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(encoder, optimizer)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        a = encoder(anchor, training=True)
        near = distance(a, encoder(positive, training=True))
        far = distance(a, encoder(negative, training=True))
        loss = tf.reduce_mean(tf.maximum(near - far + MARGIN, 0.0))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


train_writers = np.arange(TRAIN_WRITERS)
for step in range(STEPS):
    loss = train_step(*draw_triplets(train_writers, BATCH))
    watch.log(loss=loss)
    if step % 150 == 0:
        print("step", step, "loss", float(loss))

anchor, positive, negative = draw_triplets(np.arange(TRAIN_WRITERS, N_WRITERS), 1500)
near = distance(encoder(anchor), encoder(positive)).numpy()
far = distance(encoder(anchor), encoder(negative)).numpy()
score = float(np.mean(far[:, None] > near[None, :]))
print("score", score)
