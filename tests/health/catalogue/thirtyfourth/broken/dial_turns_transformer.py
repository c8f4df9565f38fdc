"""Trains a small encoder-decoder transformer that translates a list of dial turns into the positions the dial passes."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

V, L, D = 12, 8, 48
START = 1


def make(n):
    src = rng.integers(2, V, (n, L))
    tgt = np.cumsum(src - 2, axis=1) % (V - 2) + 2
    dec_in = np.concatenate([np.full((n, 1), START), tgt[:, :-1]], 1)
    return src.astype("int32"), dec_in.astype("int32"), tgt.astype("int32")


class TokenPosition(layers.Layer):
    def __init__(self, vocab, length, dim):
        super().__init__()
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(length, dim)

    def call(self, x):
        return self.tok(x) + self.pos(keras.ops.arange(keras.ops.shape(x)[1]))


def feed_forward(x):
    h = layers.Dense(2 * D, activation="relu")(x)
    return layers.LayerNormalization()(x + layers.Dense(D)(h))


src_in = keras.Input((L,), dtype="int32")
dec_in = keras.Input((L,), dtype="int32")
enc = TokenPosition(V, L, D)(src_in)
enc = layers.LayerNormalization()(enc + layers.MultiHeadAttention(4, D // 4)(enc, enc))
enc = feed_forward(enc)
dec = TokenPosition(V, L, D)(dec_in)
dec = layers.LayerNormalization()(dec + layers.MultiHeadAttention(4, D // 4)(dec, dec))
dec = layers.LayerNormalization()(dec + layers.MultiHeadAttention(4, D // 4)(dec, enc))
dec = feed_forward(dec)
model = keras.Model([src_in, dec_in], layers.Dense(V)(dec))

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
src, dec_tokens, tgt = make(6400)
model.fit([src, dec_tokens], tgt, batch_size=64, epochs=7, verbose=2)

src, _, tgt = make(300)
out = np.full((300, L), START, "int32")
final = []
for t in range(L):
    nxt = model.predict_on_batch([src, out])[:, t].argmax(-1)
    if t + 1 < L:
        out[:, t + 1] = nxt
    final.append(nxt)
print("SCORE decoded_token_accuracy", round(float(np.mean(np.stack(final, 1) == tgt)), 4))
