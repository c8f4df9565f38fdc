"""Writes out knitting instructions ("3 knit, 2 purl") stitch by stitch with an encoder-decoder with attention."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PAD = END = 0
START, STITCHES, SRC, OUT, BATCH, STEPS = 1, 6, 6, 13, 64, 1300


def rows(n):
    src = np.full((n, SRC), PAD, "int32")
    out = np.full((n, OUT), PAD, "int32")
    size = np.zeros(n, "int32")
    for i in range(n):
        seq = []
        for k in range(int(rng.integers(1, 4))):
            count, stitch = int(rng.integers(1, 5)), int(rng.integers(0, STITCHES))
            src[i, 2 * k : 2 * k + 2] = [2 + count, 8 + stitch]
            seq += [2 + stitch] * count
        out[i, : len(seq)] = seq
        out[i, len(seq)] = END
        size[i] = len(seq)
    return src, out, size


x_train, y_train, n_train = rows(8000)
x_test, y_test, n_test = rows(500)

UNITS = 96
src, prev = keras.Input((SRC,), dtype="int32"), keras.Input((OUT,), dtype="int32")
enc = layers.Embedding(16, 32)(src)
enc, state = layers.GRU(UNITS, return_sequences=True, return_state=True)(enc)
dec = layers.GRU(UNITS, return_sequences=True)(layers.Embedding(10, 32)(prev), initial_state=state)
ctx = layers.Attention(use_scale=True)([dec, enc])
h = layers.Dense(96, activation="relu")(layers.Concatenate()([dec, ctx]))
model = keras.Model([src, prev], layers.Dense(10)(h))
opt = keras.optimizers.Adam(3e-3, clipnorm=1.0)
gradwatch.watch(model)


@tf.function
def train_step(x, prev, y):
    w = tf.cast(y != PAD, tf.float32)
    with tf.GradientTape() as tape:
        logits = model([x, prev], training=True)
        ce = keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
        loss = tf.reduce_sum(ce * w) / tf.reduce_sum(w)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def shifted(y):
    return np.concatenate([np.full((len(y), 1), START, "int32"), y[:, :-1]], 1)


for step in range(STEPS):
    i = rng.integers(0, len(x_train), BATCH)
    loss = train_step(tf.constant(x_train[i]), tf.constant(shifted(y_train[i])), tf.constant(y_train[i]))
    if step % 100 == 0:
        print(step, float(loss))

predict = tf.function(lambda a, b: model([a, b], training=False))
made = np.zeros_like(y_test)
for t in range(OUT):
    logits = predict(tf.constant(x_test), tf.constant(shifted(made)))
    made[:, t] = logits.numpy()[:, t].argmax(-1)
correct = [
    np.array_equal(np.append(m, END)[: np.append(m, END).tolist().index(END)], y[:n])
    for m, y, n in zip(made, y_test, n_test)
]
print("SCORE exact_rows", round(float(np.mean(correct)), 4))
