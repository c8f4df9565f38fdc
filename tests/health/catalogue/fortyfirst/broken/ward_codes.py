"""Predicts which of five care pathways a hospital stay follows from the sequence of its event codes."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, MAXLEN, K = 200, 80, 5
profile = rng.dirichlet(np.full(VOCAB - 1, 0.15), K)


def stays(n):
    y = rng.integers(0, K, n)
    seqs = []
    for k in y:
        m = int(np.clip(rng.lognormal(2.5, 0.5), 4, MAXLEN))
        own = rng.choice(np.arange(1, VOCAB), m, p=profile[k])
        common = rng.integers(1, VOCAB, m)
        seqs.append(np.where(rng.random(m) < 0.5, own, common))
    return keras.utils.pad_sequences(seqs, maxlen=MAXLEN, padding="post"), y


x, y = stays(2400)
x_te, y_te = stays(600)

model = keras.Sequential(
    [
        keras.Input((MAXLEN,), dtype="int32"),
        layers.Embedding(VOCAB, 24),
        layers.GRU(32),
        layers.Dense(32, activation="relu"),
        layers.Dense(K, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=6, verbose=2)
print("SCORE accuracy", float(np.mean(model.predict(x_te, verbose=0).argmax(1) == y_te)))
