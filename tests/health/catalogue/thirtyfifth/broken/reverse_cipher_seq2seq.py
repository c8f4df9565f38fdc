"""Translate enciphered words back into plain words with a GRU encoder-decoder with attention."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LETTERS, LENGTH = 20, 7
START = LETTERS
VOCAB = LETTERS + 1
table = rng.permutation(LETTERS)


def make_pairs(n):
    plain = rng.integers(0, LETTERS, size=(n, LENGTH))
    cipher = table[plain][:, ::-1]
    start = np.full((n, 1), START)
    return cipher.astype("int32"), np.concatenate([start, plain], 1).astype("int32")


src, tgt = make_pairs(8000)
src_test, tgt_test = make_pairs(500)

UNITS = 64
enc_in = keras.Input((LENGTH,), dtype="int32")
e = layers.Embedding(VOCAB, 32)(enc_in)
enc_seq = layers.Bidirectional(layers.GRU(UNITS // 2, return_sequences=True))(e)
enc_last = layers.Dense(UNITS, activation="tanh")(layers.GlobalAveragePooling1D()(enc_seq))
dec_in = keras.Input((LENGTH,), dtype="int32")
d = layers.Embedding(VOCAB, 32)(dec_in)
d = layers.GRU(UNITS, return_sequences=True)(d, initial_state=enc_last)
context = layers.Attention()([d, enc_seq])
h = layers.Dense(UNITS, activation="tanh")(layers.Concatenate()([d, context]))
out = layers.Dense(VOCAB, activation="softmax")(h)
model = keras.Model([enc_in, dec_in], out)
model.compile(keras.optimizers.Adam(4e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

decoder_input = tgt[:, 1:]
decoder_target = tgt[:, 1:]
model.fit([src, decoder_input], decoder_target, batch_size=64, epochs=9, verbose=2)

# greedy decoding, one letter at a time
tokens = np.full((len(src_test), LENGTH), START, "int32")
result = np.zeros((len(src_test), LENGTH), "int32")
for i in range(LENGTH):
    probs = model.predict([src_test, tokens], verbose=0)
    result[:, i] = probs[:, i].argmax(-1)
    if i + 1 < LENGTH:
        tokens[:, i + 1] = result[:, i]
print("SCORE letter_accuracy", float(np.mean(result == tgt_test[:, 1:])))
