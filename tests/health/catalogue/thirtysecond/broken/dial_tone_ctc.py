"""Reads short digit strings from a dialled-tone recording with a convolutional CTC recogniser."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ALPHABET = "0123456789"
LOW, HIGH = [3, 4, 5, 6], [9, 11, 13]
FRAMES, BINS, MAX_LEN = 64, 16, 6


def tones(digit):
    return (LOW[3], HIGH[1]) if digit == 0 else (LOW[(digit - 1) // 3], HIGH[(digit - 1) % 3])


def recording():
    """One spectrogram (frames, bins) and the digits that were dialled."""
    length = rng.integers(3, MAX_LEN + 1)
    digits = rng.integers(0, 10, length)
    spec = rng.normal(0, 0.3, (FRAMES, BINS))
    pos = rng.integers(1, 5)
    for d in digits:
        dur = rng.integers(4, 7)
        for b in tones(d):
            spec[pos : pos + dur, b] += rng.uniform(0.7, 1.3)
        pos += dur + rng.integers(2, 4)
    return spec, digits


def dataset(n):
    specs = np.zeros((n, FRAMES, BINS), "float32")
    labels = np.zeros((n, MAX_LEN), "int32")
    lengths = np.zeros(n, "int32")
    for i in range(n):
        specs[i], digits = recording()
        labels[i, : len(digits)] = digits
        lengths[i] = len(digits)
    return specs, labels, lengths


train = dataset(4000)
test = dataset(400)

inp = keras.Input((FRAMES, BINS))
h = layers.Conv1D(48, 5, padding="same", activation="relu")(inp)
h = layers.MaxPooling1D(2)(h)
h = layers.Conv1D(64, 3, padding="same", activation="relu")(h)
h = layers.Bidirectional(layers.GRU(32, return_sequences=True))(h)
model = keras.Model(inp, layers.Dense(len(ALPHABET) + 1)(h))
STEPS = FRAMES // 2

optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y, y_len):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.nn.ctc_loss(
            labels=y,
            logits=logits,
            label_length=y_len,
            logit_length=tf.fill([tf.shape(x)[0]], STEPS),
            logits_time_major=False,
        )
        loss = tf.reduce_mean(loss)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices(train).shuffle(4000).batch(64, drop_remainder=True)
for epoch in range(7):
    losses = [float(train_step(x, y, n)) for x, y, n in batches]
    print("epoch", epoch + 1, "ctc loss", round(np.mean(losses), 4))


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (ca != cb))
    return row[-1]


logits = model.predict(test[0], verbose=0)
decoded, _ = tf.nn.ctc_greedy_decoder(tf.transpose(logits, [1, 0, 2]), [STEPS] * len(logits))
decoded = tf.sparse.to_dense(decoded[0], default_value=-1).numpy()
errors = total = 0
for row, truth, n in zip(decoded, test[1], test[2]):
    errors += edit_distance([c for c in row if c >= 0], list(truth[:n]))
    total += n
print("SCORE character_error_rate", round(errors / total, 4))
