"""Intent detection for short chat-bot utterances with an LSTM over token ids."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Dense, Embedding, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import pad_sequences

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

VOCAB = 400
INTENTS = 5
MAXLEN = 100


def utterances(n, rng):
    keys = np.random.default_rng(77).permutation(np.arange(1, VOCAB))[:100].reshape(INTENTS, 20)
    seqs, intents = [], []
    for _ in range(n):
        c = int(rng.integers(0, INTENTS))
        length = int(rng.integers(5, 14))
        s = rng.integers(1, VOCAB, length)
        where = rng.choice(length, 3, replace=False)
        s[where] = rng.choice(keys[c], 3)
        seqs.append(s.tolist())
        intents.append(c)
    return seqs, np.array(intents)


rng = np.random.default_rng(SEED)
seqs, intents = utterances(4200, rng)
X = pad_sequences(seqs, maxlen=MAXLEN, padding="post", truncating="post")
X_tr, X_te, y_tr, y_te = X[:3600], X[3600:], intents[:3600], intents[3600:]

model = Sequential()
gradwatch.watch(model)
model.add(Input((MAXLEN,)))
model.add(Embedding(VOCAB, 32))
model.add(LSTM(48))
model.add(Dense(32, activation="relu"))
model.add(Dense(INTENTS, activation="softmax"))

model.compile(loss="sparse_categorical_crossentropy", optimizer=tf.keras.optimizers.Adam(3e-3), metrics=["accuracy"])
model.fit(X_tr, y_tr, batch_size=60, epochs=5, validation_data=(X_te, y_te), verbose=2)
print("test accuracy %.3f" % model.evaluate(X_te, y_te, verbose=0)[1])
