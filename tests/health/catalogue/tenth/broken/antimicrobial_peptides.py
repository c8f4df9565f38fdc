"""Antimicrobial or not: peptides given as amino-acid strings.

Most peptides have 6 to 22 residues; a few fusion products reach 110, so the
batch width is 110.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

AMINO = "ACDEFGHIKLMNPQRSTVWY"
CODE = {a: i + 1 for i, a in enumerate(AMINO)}
MAX_LEN = 110

BG = np.full(20, 0.05)
CATIONIC = BG.copy()
for a in "KRLWI":
    CATIONIC[CODE[a] - 1] += 0.12
CATIONIC /= CATIONIC.sum()


def peptide(active):
    n = int(rng.integers(6, 23))
    p = CATIONIC if active else BG
    s = "".join(rng.choice(list(AMINO), n, p=p))
    if active and n > 9:
        k = rng.integers(0, n - 4)
        s = s[:k] + "KLLK" + s[k + 4 :]
    return s


labels = rng.integers(0, 2, 2560)
seqs = [[CODE[c] for c in peptide(l)] for l in labels]
tokens = keras.utils.pad_sequences(seqs, maxlen=MAX_LEN, padding="post")

model = keras.Sequential(
    [
        keras.Input((MAX_LEN,), dtype="int32"),
        layers.Embedding(len(AMINO) + 1, 16, name="residue"),
        layers.LSTM(32, name="reader"),
        layers.Dense(16, activation="relu", name="fc"),
        layers.Dense(1, activation="sigmoid", name="active"),
    ],
    name="amp",
)
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(4e-3), loss="binary_crossentropy", metrics=["accuracy"], jit_compile=False
)
model.fit(tokens, labels, batch_size=64, epochs=4, verbose=2)
print("final:", model.evaluate(tokens, labels, batch_size=200, verbose=0))
