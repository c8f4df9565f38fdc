"""Recognise spoken digit codes from filter-bank frames with a GRU and CTC."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIGITS, BANDS, FRAMES, MAX_LEN = 8, 16, 48, 5

# every digit is two steady sounds, one after the other
SOUNDS = rng.normal(0, 1.0, (DIGITS, 2, BANDS))


def utterances(n):
    x = 0.5 * rng.normal(size=(n, FRAMES, BANDS))
    y = np.full((n, MAX_LEN), -1, "int32")
    for i in range(n):
        count = rng.integers(2, MAX_LEN + 1)
        y[i, :count] = rng.integers(0, DIGITS, count)
        t = rng.integers(0, 4)
        for d in y[i, :count]:
            a, b = rng.integers(3, 5, 2)
            x[i, t : t + a] += SOUNDS[d, 0]
            x[i, t + a : t + a + b] += SOUNDS[d, 1]
            t += a + b + rng.integers(0, 2)
    return x.astype("float32"), y


def ctc_loss(y_true, logits):
    y_true = tf.cast(y_true, tf.int32)
    label_length = tf.reduce_sum(tf.cast(y_true >= 0, tf.int32), axis=1)
    logit_length = tf.fill([tf.shape(logits)[0]], tf.shape(logits)[1])
    return tf.nn.ctc_loss(
        labels=tf.maximum(y_true, 0),
        logits=logits,
        label_length=label_length,
        logit_length=logit_length,
        logits_time_major=False,
    )


def build():
    inp = keras.Input((FRAMES, BANDS))
    h = layers.Conv1D(48, 3, padding="same", activation="relu")(inp)
    h = layers.Bidirectional(layers.GRU(32, return_sequences=True))(h)
    return keras.Model(inp, layers.Dense(DIGITS + 1)(h))  # one extra class for the blank


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (ca != cb))
    return row[-1]


def decode(logits):
    lengths = tf.fill([logits.shape[0]], logits.shape[1])
    decoded, _ = tf.nn.ctc_greedy_decoder(tf.transpose(logits, (1, 0, 2)), lengths)
    return tf.sparse.to_dense(decoded[0], default_value=-1).numpy()


train_x, train_y = utterances(3000)
test_x, test_y = utterances(500)

model = build()
model.compile(optimizer=keras.optimizers.Adam(3e-3, clipnorm=5.0), loss=ctc_loss)
gradwatch.watch(model)
model.fit(train_x, train_y, batch_size=50, epochs=4, verbose=2)

logits = tf.constant(model.predict(test_x, batch_size=250, verbose=0))
wrong = total = 0
for guess, truth in zip(decode(logits), test_y):
    truth = [d for d in truth if d >= 0]
    wrong += edit_distance([d for d in guess if d >= 0], truth)
    total += len(truth)
print("SCORE digit_error_rate %.4f" % (wrong / total))
