"""Verify signatures on cheques: do two feature vectors come from the same writer?

A siamese encoder trained with the contrastive loss on pairs drawn from an archive of 80
writers. Judged by the accuracy of a distance threshold on writers seen with new signatures.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WRITERS, EACH, FEATURES, CODE = 80, 400, 48, 16
MARGIN, BATCH, STEPS = 1.0, 32, 600

style = rng.normal(0, 1, (WRITERS, FEATURES))


def archive(each):
    noise = rng.normal(0, 0.6, (WRITERS, each, FEATURES))
    return (style[:, None] + noise).astype("float32")


def draw_pairs(bank, n):
    """Half genuine pairs (same writer), half forgeries (two writers)."""
    writer_a = rng.integers(0, WRITERS, n)
    same = rng.random(n) < 0.5
    writer_b = np.where(same, writer_a, rng.integers(0, WRITERS, n))
    a = bank[writer_a, rng.integers(0, bank.shape[1], n)]
    b = bank[writer_b, rng.integers(0, bank.shape[1], n)]
    return a, b, (writer_a == writer_b).astype("float32")


encoder = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        layers.Dense(64, activation="relu", name="strokes"),
        layers.Dense(CODE, name="code"),
    ],
    name="encoder",
)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(encoder)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(encoder(a) - encoder(b)), axis=1))


@tf.function(jit_compile=True)
def train_step(a, b, same):
    with tf.GradientTape() as tape:
        d = distance(a, b)
        pull = same * d
        push = (1.0 - same) * tf.square(tf.maximum(MARGIN - d, 0.0))
        loss = tf.reduce_mean(pull + push)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


bank, later = archive(EACH), archive(4)
for step in range(STEPS):
    a, b, same = draw_pairs(bank, BATCH)
    loss = train_step(tf.constant(a), tf.constant(b), tf.constant(same))
    watch.log(loss=loss)
    if step % 50 == 0:
        print(f"step {step} contrastive loss {float(loss):.4f}")

a, b, same = draw_pairs(later, 4000)
d = distance(tf.constant(a), tf.constant(b)).numpy()
print(f"score accuracy {np.mean((d < MARGIN / 2) == (same > 0.5)):.3f} chance 0.5")
