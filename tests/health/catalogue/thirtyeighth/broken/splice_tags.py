"""Tags every position of a nucleotide string as exon, intron or boundary with a forward and a backward recurrent reader."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN, N = 36, 4000


def strings(n):
    x = rng.integers(0, 4, (n, LEN))
    y = np.zeros((n, LEN), "int64")
    for i in range(n):
        last = 0
        for t in range(LEN):
            if x[i, t] == 0:
                last = 1
            elif x[i, t] == 1:
                last = 0
            y[i, t] = last
        nxt = 0
        for t in reversed(range(LEN)):
            if x[i, t] == 2:
                nxt = 1
            elif x[i, t] == 3:
                nxt = 0
            y[i, t] = y[i, t] + nxt
    return np.eye(4, dtype="float32")[x], y


x_train, y_train = strings(N)
x_test, y_test = strings(1000)

inp = keras.Input((LEN, 4))
fwd = layers.GRU(32, return_sequences=True)(inp)
bwd = layers.GRU(32, return_sequences=True, go_backwards=True)(inp)
h = layers.Concatenate()([fwd, bwd])
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(inp, layers.Dense(3, activation="softmax")(h))
model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=7, verbose=2)
print("SCORE tag_accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))
