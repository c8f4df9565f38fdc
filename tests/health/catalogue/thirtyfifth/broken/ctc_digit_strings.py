"""Recognise strings of spoken digits from frame features with a bidirectional GRU and CTC."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FRAMES, FEATS, MAX_DIGITS = 32, 12, 5
NUM_DIGITS = 10
BLANK = NUM_DIGITS  # last output unit
prototypes = rng.normal(size=(NUM_DIGITS, 2, FEATS))


def make_set(n):
    x = rng.normal(scale=0.4, size=(n, FRAMES, FEATS))
    labels = np.zeros((n, MAX_DIGITS), "int32")
    lengths = rng.integers(2, MAX_DIGITS + 1, size=n).astype("int32")
    for i in range(n):
        pos = rng.integers(0, 3)
        for j in range(lengths[i]):
            d = rng.integers(NUM_DIGITS)
            labels[i, j] = d
            a, b = rng.integers(2, 4), rng.integers(1, 3)
            x[i, pos : pos + a] += prototypes[d, 0]
            x[i, pos + a : pos + a + b] += prototypes[d, 1]
            pos += a + b + rng.integers(0, 2)
    return x.astype("float32"), labels, lengths


x_train, y_train, len_train = make_set(4000)
x_test, y_test, len_test = make_set(400)

inputs = keras.Input((FRAMES, FEATS))
h = layers.Dense(48, activation="relu")(inputs)
h = layers.Bidirectional(layers.GRU(40, return_sequences=True))(h)
logits = layers.Dense(NUM_DIGITS + 1)(h)
model = keras.Model(inputs, logits)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(3e-3, clipnorm=5.0)


@tf.function
def train_step(x, y, y_len):
    frames = tf.fill([tf.shape(x)[0]], FRAMES)
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.ctc_loss(y, out, y_len, frames, logits_time_major=False))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train, len_train))
data = data.shuffle(4000, seed=seed).batch(50, drop_remainder=True)
for epoch in range(8):
    losses = [float(train_step(*b)) for b in data]
    print(f"epoch {epoch} loss {np.mean(losses):.3f}")


def edit_distance(a, b):
    d = np.arange(len(b) + 1)
    for i, ca in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, cb in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (ca != cb))
    return d[-1]


best = np.argmax(model.predict(x_test, verbose=0), axis=-1)
errors = 0
for row, y, n in zip(best, y_test, len_test):
    keep = np.concatenate([[True], row[1:] != row[:-1]])
    decoded = [c for c in row[keep] if c != BLANK]
    errors += edit_distance(decoded, y[:n])
print("SCORE digit_error_rate", errors / len_test.sum())
