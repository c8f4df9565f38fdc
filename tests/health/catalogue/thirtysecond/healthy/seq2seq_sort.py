"""Trains a small encoder-decoder transformer by teacher forcing to write out digit strings, said in words with fillers, in descending order."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# Source tokens: 0 padding, 1..10 digits, 11..15 filler words. Target tokens: 0 padding, 1..10 digits, 11 start, 12 end.
SRC_LEN, TGT_LEN, D, HEADS = 12, 8, 48, 4
START, END = 11, 12


def make(n):
    src = np.zeros((n, SRC_LEN), "int32")
    full = np.zeros((n, TGT_LEN + 1), "int32")
    for i in range(n):
        digits = rng.integers(1, 11, rng.integers(2, 7))
        words = []
        for d in digits:
            if rng.random() < 0.4:
                words.append(rng.integers(11, 16))
            words.append(d)
        words = words[:SRC_LEN]
        kept = sorted((int(w) for w in words if w <= 10), reverse=True)
        src[i, : len(words)] = words
        line = [START] + kept + [END]
        full[i, : len(line)] = line
    return src, full[:, :-1], full[:, 1:]


src, dec_in, dec_out = make(9000)
v_src, v_in, v_out = make(500)
t_src, t_in, t_out = make(500)


class TokenAndPosition(layers.Layer):
    def __init__(self, vocab, length, dim, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(length, dim)

    def call(self, ids):
        return self.tok(ids) + self.pos(keras.ops.arange(keras.ops.shape(ids)[1]))


def feed_forward(x):
    h = layers.LayerNormalization()(x)
    h = layers.Dense(2 * D, activation="gelu")(h)
    h = layers.Dropout(0.05)(layers.Dense(D)(h))
    return layers.Add()([x, h])


class NotPadding(layers.Layer):
    """Mask of shape (batch, 1, keys) that is true where a key token is no padding."""

    def call(self, ids):
        return keras.ops.expand_dims(keras.ops.not_equal(ids, 0), 1)


def attend(x, mem, mask, causal=False):
    q = layers.LayerNormalization()(x)
    kv = mem if mem is not None else q
    h = layers.MultiHeadAttention(HEADS, D // HEADS, dropout=0.05)(q, kv, attention_mask=mask, use_causal_mask=causal)
    return layers.Add()([x, h])


enc_ids = keras.Input((SRC_LEN,), dtype="int32", name="source")
dec_ids = keras.Input((TGT_LEN,), dtype="int32", name="target")
enc_mask, dec_mask = NotPadding()(enc_ids), NotPadding()(dec_ids)
e = TokenAndPosition(16, SRC_LEN, D)(enc_ids)
for _ in range(2):
    e = feed_forward(attend(e, None, enc_mask))
e = layers.LayerNormalization()(e)
d = TokenAndPosition(13, TGT_LEN, D)(dec_ids)
for _ in range(2):
    d = attend(d, None, dec_mask, causal=True)
    d = feed_forward(attend(d, e, enc_mask))
logits = layers.Dense(13)(layers.LayerNormalization()(d))
model = keras.Model([enc_ids, dec_ids], logits)
gradwatch.watch(model)


@keras.saving.register_keras_serializable()
class WarmupRsqrt(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup):
        self.peak, self.warmup = peak, float(warmup)

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        return self.peak * tf.minimum(step / self.warmup, tf.sqrt(self.warmup / step))

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup}


# Padding (class 0) of the targets takes no part in loss and accuracy.
model.compile(
    optimizer=keras.optimizers.Adam(WarmupRsqrt(2e-3, 100), beta_2=0.98),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0),
)
model.fit([src, dec_in], dec_out, validation_data=([v_src, v_in], v_out), batch_size=64, epochs=3, verbose=2)


def greedy(source):
    out = np.zeros((len(source), TGT_LEN), "int32")
    out[:, 0] = START
    done = np.zeros(len(source), bool)
    result = np.zeros((len(source), TGT_LEN), "int32")
    for k in range(TGT_LEN):
        nxt = model.predict([source, out], batch_size=256, verbose=0)[:, k, 1:].argmax(-1) + 1
        nxt = np.where(done, 0, nxt)
        result[:, k] = nxt
        done |= nxt == END
        if k + 1 < TGT_LEN:
            out[:, k + 1] = nxt
    return result


def exact(guess):
    return float((guess == t_out).all(1).mean())


# Baseline: repeat the digits in the order in which they were said.
copied = np.zeros_like(t_out)
for i, row in enumerate(t_src):
    line = [w for w in row if 1 <= w <= 10] + [END]
    copied[i, : len(line)] = line
print("BASELINE exact_match (said order)", round(exact(copied), 4))
print("SCORE exact_match", round(exact(greedy(t_src)), 4))
