"""Short binary codes for digit images, learned with an auto-encoder (semantic hashing)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BITS = 10
STEPS = 600
data = load_digits()
x = (data.data / 16.0).astype("float32")
labels = data.target

encoder = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(BITS, activation="sigmoid", name="bits"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((BITS,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(64, name="pixels"),
    ],
    name="decoder",
)
optimizer = keras.optimizers.Adam(3e-3)
batches = tf.data.Dataset.from_tensor_slices(x).shuffle(2000, seed=SEED).repeat().batch(64)


def to_code(prob):
    """0/1 code from the bit probabilities."""
    return tf.round(prob)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        prob = encoder(batch, training=True)
        recon = decoder(to_code(prob), training=True)
        loss = tf.reduce_mean(tf.square(recon - batch))
    weights = encoder.trainable_variables + decoder.trainable_variables
    grads = tape.gradient(loss, weights)
    grads = [tf.zeros_like(w) if g is None else g for g, w in zip(grads, weights)]
    optimizer.apply_gradients(zip(grads, weights))
    return loss


def neighbour_score():
    """Share of images whose nearest code (Hamming) shows the same digit."""
    code = np.round(encoder.predict(x, verbose=0))
    dist = (code[:500, None, :] != code[None, :, :]).sum(-1).astype("float32")
    dist[np.arange(500), np.arange(500)] = 99
    return float((labels[dist.argmin(1)] == labels[:500]).mean())


print(f"start: neighbours {neighbour_score():.3f}, variance of pixels {x.var(0).mean():.4f}")
gradwatch.watch(encoder, decoder)
for step, batch in enumerate(batches.take(STEPS)):
    loss = train_step(batch)
    if step % 60 == 0:
        print(f"step {step:4d} reconstruction {float(loss):.4f}")
print(f"end: reconstruction {float(loss):.4f}, neighbours {neighbour_score():.3f}")
