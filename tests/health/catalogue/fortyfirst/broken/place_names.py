"""Transliterates place names between two scripts with an attentive encoder-decoder."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VS, VT, L = 22, 26, 7
PAD, BOS = 0, 1
base = rng.permutation(np.arange(2, VT))[:VS]


def names(n):
    src = rng.integers(2, VS, (n, L))
    tgt = base[src]
    # a vowel-like letter changes the one that follows it
    soft = np.concatenate([np.zeros((n, 1), bool), src[:, :-1] < 6], 1)
    tgt = np.where(soft, 2 + (tgt - 2 + 1) % (VT - 2), tgt)
    return src.astype("int32"), tgt.astype("int32")


src, tgt = names(6000)
src_te, tgt_te = names(400)


def with_bos(t):
    return np.concatenate([np.full((len(t), 1), BOS, "int32"), t], 1)


full = with_bos(tgt)
dec_in, dec_out = full[:, 1:], full[:, 1:]

s, d = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
enc = layers.Bidirectional(layers.GRU(40, return_sequences=True))(layers.Embedding(VS, 24)(s))
dec = layers.GRU(80, return_sequences=True)(layers.Embedding(VT, 24)(d))
att = layers.Attention()([layers.Dense(80)(dec), enc])
h = layers.Dense(80, activation="relu")(layers.Concatenate()([dec, att]))
model = keras.Model([s, d], layers.Dense(VT)(h))
model.compile(
    keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit([src, dec_in], dec_out, batch_size=64, epochs=10, verbose=2)

out = np.full((400, 1), BOS, "int32")
for _ in range(L):
    nxt = model([src_te, out], training=False).numpy()[:, -1].argmax(-1)
    out = np.concatenate([out, nxt[:, None].astype("int32")], 1)
print("SCORE letter_accuracy", float(np.mean(out[:, 1:] == tgt_te)))
