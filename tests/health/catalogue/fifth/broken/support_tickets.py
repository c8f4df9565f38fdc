import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
VOCAB, LENGTH, QUEUES = 500, 16, 6


def load(n=3000):
    rng = np.random.default_rng(31)
    y = rng.integers(0, QUEUES, n)
    x = rng.integers(60, VOCAB, (n, LENGTH))
    for i in range(n):
        where = rng.choice(LENGTH, 3, replace=False)
        x[i, where] = 10 * y[i] + rng.integers(0, 10, 3)
    return x.astype("int32"), y


def build_encoder():
    tokens = keras.Input((LENGTH,), dtype="int32")
    h = layers.Embedding(VOCAB, 16, name="token_table")(tokens)
    h = layers.GRU(24, name="reader")(h)
    return keras.Model(tokens, h, name="encoder")


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    encoder = build_encoder()
    encoder.trainable = False
    tokens = keras.Input((LENGTH,), dtype="int32")
    h = encoder(tokens)
    h = layers.Dense(32, activation="relu", name="router")(h)
    out = layers.Dense(QUEUES, activation="softmax", name="queue")(h)
    model = keras.Model(tokens, out)
    model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=48, epochs=8, verbose=2)


if __name__ == "__main__":
    main()
