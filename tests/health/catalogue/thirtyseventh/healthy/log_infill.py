"""Fills masked tokens in machine event logs of varying length with a small transformer, averaging late weights."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB = 40
MAXLEN = 24
PAD, MASK = 0, 1
DIM = 48
HEADS = 4

order = rng.permutation(np.arange(2, VOCAB))
follow = {a: (order[(i + 1) % len(order)], order[(i + 5) % len(order)]) for i, a in enumerate(order)}


def logs(n):
    tok = np.zeros((n, MAXLEN), "int32")
    for i in range(n):
        length = rng.integers(8, MAXLEN + 1)
        step = rng.integers(0, 2)
        t = rng.integers(2, VOCAB)
        for j in range(length):
            tok[i, j] = t
            t = follow[t][step] if rng.random() > 0.03 else rng.integers(2, VOCAB)
    hide = (rng.random(tok.shape) < 0.15) & (tok != PAD)
    hide[:, 3] = True
    x = np.where(hide, MASK, tok)
    return x.astype("int32"), tok, hide.astype("float32")


x_train, y_train, w_train = logs(4500)
x_test, y_test, w_test = logs(600)


class Tokens(layers.Layer):
    def __init__(self):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, DIM)
        self.pos = layers.Embedding(MAXLEN, DIM)

    def call(self, ids, reverse=False):
        if reverse:
            return tf.einsum("btd,vd->btv", ids, tf.convert_to_tensor(self.tok.embeddings))
        return self.tok(ids) + self.pos(tf.range(MAXLEN))


class Attend(layers.Layer):
    def __init__(self):
        super().__init__()
        self.qkv = layers.Dense(3 * DIM)
        self.out = layers.Dense(DIM)

    def call(self, x, ids):
        b = tf.shape(x)[0]
        q, k, v = tf.split(self.qkv(x), 3, axis=-1)
        split = lambda a: tf.transpose(tf.reshape(a, (b, MAXLEN, HEADS, DIM // HEADS)), (0, 2, 1, 3))
        q, k, v = split(q), split(k), split(v)
        score = tf.matmul(q, k, transpose_b=True) / np.sqrt(DIM // HEADS)
        score += -1e9 * tf.cast(ids == PAD, tf.float32)[:, None, None, :]
        y = tf.matmul(tf.nn.softmax(score, axis=-1), v)
        return self.out(tf.reshape(tf.transpose(y, (0, 2, 1, 3)), (b, MAXLEN, DIM)))


ids = layers.Input((MAXLEN,), dtype="int32")
tokens = Tokens()
h = tokens(ids)
for _ in range(2):
    h = h + Attend()(layers.LayerNormalization()(h), ids)
    f = layers.Dense(96, activation="gelu")(layers.LayerNormalization()(h))
    h = h + layers.Dense(DIM)(f)
h = layers.LayerNormalization()(h)
model = keras.Model(ids, tokens(h, reverse=True))


class AverageLate(keras.callbacks.Callback):
    def __init__(self, start):
        super().__init__()
        self.start, self.n, self.mean = start, 0, None

    def on_epoch_end(self, epoch, logs=None):
        if epoch < self.start:
            return
        w = self.model.get_weights()
        self.n += 1
        self.mean = w if self.mean is None else [m + (a - m) / self.n for m, a in zip(self.mean, w)]

    def on_train_end(self, logs=None):
        self.model.set_weights(self.mean)


model.compile(
    optimizer=keras.optimizers.AdamW(3e-3, weight_decay=1e-4, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
gradwatch.watch(model)
model.fit(x_train, y_train, sample_weight=w_train, batch_size=64, epochs=15, verbose=2, callbacks=[AverageLate(11)])
guess = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE masked_accuracy", round(float(np.sum((guess == y_test) * w_test) / w_test.sum()), 4))
