"""Trains binary codes for library books from the words of their blurbs."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 60)

GENRES, WORDS, BITS = 16, 300, 12


def blurbs(n):
    """Presence of words, drawn from a genre vocabulary and a large common one."""
    lexicon = np.random.default_rng(5)
    common = lexicon.beta(0.5, 2.5, WORDS)
    typical = lexicon.random((GENRES, WORDS)) < 0.06
    genre = rng.integers(0, GENRES, n)
    chance = common * 0.8 + 0.35 * typical[genre] * (1 - common)
    return (rng.random((n, WORDS)) < chance).astype("float32"), genre


words, genre = blurbs(6000)
centre = words[:5000].mean(axis=0)
shelf = words - centre

encoder = keras.Sequential(
    [
        keras.Input((WORDS,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(BITS, activation="sigmoid", name="bits"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((BITS,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(WORDS, name="words"),
    ],
    name="decoder",
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(encoder, decoder)
variables = encoder.trainable_variables + decoder.trainable_variables


def binarise(p):
    hard = tf.cast(p > 0.5, tf.float32)
    return p + tf.stop_gradient(hard - p)


@tf.function
def train_step(x, present):
    with tf.GradientTape() as tape:
        code = binarise(encoder(x, training=True))
        logits = decoder(2.0 * code - 1.0, training=True)
        each = tf.nn.sigmoid_cross_entropy_with_logits(labels=present, logits=logits)
        loss = tf.reduce_mean(tf.reduce_sum(each, axis=-1)) / 10.0
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for epoch in range(16):
    order = rng.permutation(5000)
    losses = []
    for start in range(0, 5000, 50):
        pick = order[start : start + 50]
        losses.append(float(train_step(shelf[pick], words[pick])))
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}", flush=True)

codes = encoder.predict(shelf, verbose=0) > 0.5
distance = (codes[5000:, None] != codes[None, :5000]).sum(-1)
nearest = np.argsort(distance, axis=1, kind="stable")[:, :10]
print("SCORE precision_at_10", float((genre[:5000][nearest] == genre[5000:, None]).mean()))
