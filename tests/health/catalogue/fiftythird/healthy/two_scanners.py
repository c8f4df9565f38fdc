"""Leaf classes from an old scanner must also work on a new one (adversarial adaptation)."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_KINDS, N_FEATS, BATCH, STEPS = 4, 20, 64, 2500
centres = rng.normal(size=(N_KINDS, N_FEATS)) * 0.9
tint = np.zeros(N_FEATS)
tint[:10] = 1.5 * rng.choice([-1.0, 1.0], 10)


def leaves(n, new_scanner):
    kind = rng.integers(0, N_KINDS, n)
    x = centres[kind] + 0.8 * rng.normal(size=(n, N_FEATS))
    if new_scanner:
        x = x + tint
    return x.astype("float32"), kind.astype("int32")


@tf.custom_gradient
def flip(x, strength):
    def back(dy):
        return -strength * dy, tf.zeros_like(strength)

    return tf.identity(x), back


features = keras.Sequential(
    [
        keras.Input((N_FEATS,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="tanh"),
    ],
    name="features",
)
kinds = keras.Sequential([keras.Input((32,)), keras.layers.Dense(N_KINDS)], name="kinds")
scanner = keras.Sequential(
    [keras.Input((32,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)],
    name="scanner",
)
opt = keras.optimizers.Adam(1e-3)
weights = features.trainable_variables + kinds.trainable_variables + scanner.trainable_variables
gradwatch.watch(features, kinds, scanner)


@tf.function
def step(old_x, old_y, new_x, strength):
    with tf.GradientTape() as tape:
        h = features(tf.concat([old_x, new_x], 0), training=True)
        named = kinds(h[:BATCH], training=True)
        class_loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=old_y, logits=named))
        who = scanner(flip(h, strength), training=True)[:, 0]
        origin = tf.concat([tf.zeros([BATCH]), tf.ones([BATCH])], 0)
        scanner_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=origin, logits=who))
        loss = class_loss + scanner_loss
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return class_loss, scanner_loss


old_x, old_y = leaves(4000, False)
new_x, _ = leaves(4000, True)
for i in range(STEPS):
    a, b = rng.integers(0, 4000, BATCH), rng.integers(0, 4000, BATCH)
    strength = 2.0 / (1.0 + np.exp(-10.0 * i / STEPS)) - 1.0
    c, s = step(
        tf.constant(old_x[a]),
        tf.constant(old_y[a]),
        tf.constant(new_x[b]),
        tf.constant(strength, tf.float32),
    )
    if (i + 1) % 250 == 0:
        print(f"step {i + 1} class {float(c):.3f} scanner {float(s):.3f}")

test_x, test_y = leaves(2000, True)
guess = np.argmax(kinds(features(test_x)).numpy(), axis=1)
print("SCORE new_scanner_accuracy", round(float(np.mean(guess == test_y)), 4))
