"""Contrastive speaker embeddings (InfoNCE), compiled with XLA."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SPEAKERS, D, B = 200, 32, 64
voices = rng.normal(size=(SPEAKERS, 6))
mixing = rng.normal(size=(6, D))
channel = rng.normal(size=(6, D))


def utterance(ids):
    n = len(ids)
    return (
        np.tanh(voices[ids] @ mixing / 2) * 1.5
        + 0.7 * rng.normal(size=(n, 6)) @ channel
        + 0.1 * rng.normal(size=(n, D))
    ).astype("float32")


encoder = keras.Sequential(
    [layers.Input((D,)), layers.Dense(96, activation="relu"), layers.Dense(96, activation="relu"), layers.Dense(16)]
)
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(encoder.trainable_variables)
labels = tf.range(B)


@tf.function(jit_compile=True)
def train_step(a, b):
    with tf.GradientTape() as tape:
        za = tf.math.l2_normalize(encoder(a, training=True), axis=1)
        zb = tf.math.l2_normalize(encoder(b, training=True), axis=1)
        logits = tf.matmul(za, zb, transpose_b=True) / 0.1
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


ids = np.arange(SPEAKERS)
ga, gb = utterance(ids), utterance(ids)
gradwatch.watch(encoder)
for step in range(400):
    pick = rng.choice(SPEAKERS, B, replace=False)
    loss = train_step(utterance(pick), utterance(pick))
    if (step + 1) % 50 == 0:
        p, q = (tf.math.l2_normalize(encoder(g), axis=1).numpy() for g in (ga, gb))
        print(step + 1, "loss", float(loss), "top-1 of 200", np.mean(np.argmax(p @ q.T, 1) == ids))
