"""Trains a binary hash of library book descriptions so that books of one subject get the same code."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SUBJECTS, WORDS, BITS = 12, 300, 8

profile = rng.normal(size=(SUBJECTS, 2, 10))
lift = rng.normal(size=(10, WORDS)) / np.sqrt(10)


def books(n):
    """Every subject has two quite different kinds of book (say, textbooks and novels)."""
    subject = rng.integers(0, SUBJECTS, n)
    kind = rng.integers(0, 2, n)
    core = profile[subject, kind] + 0.45 * rng.normal(size=(n, 10))
    x = core @ lift + 0.3 * rng.normal(size=(n, WORDS))
    return x.astype("float32"), subject.astype("int32")


x_train, y_train = books(6000)
x_test, y_test = books(1500)

encoder = keras.Sequential(
    [
        keras.Input((WORDS,)),
        keras.layers.Dense(512, activation="relu"),
        keras.layers.Dense(BITS, activation="tanh"),
    ],
    name="encoder",
)
reader = keras.Sequential(
    [keras.Input((BITS,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(SUBJECTS)],
    name="reader",
)
optimizer = keras.optimizers.Adam(1e-3)
variables = encoder.trainable_variables + reader.trainable_variables


def binarize(h):
    return tf.sign(h)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        code = binarize(encoder(x, training=True))
        logits = reader(code, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


gradwatch.watch(encoder, reader)

data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6000, seed=seed).batch(64)
for epoch in range(24):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}")

codes = tf.sign(encoder.predict(x_test, verbose=0))
found = reader.predict(codes, verbose=0).argmax(axis=-1)
print("distinct codes", len(np.unique(codes.numpy(), axis=0)))
print("SCORE subject_accuracy", float((found == y_test).mean()))
