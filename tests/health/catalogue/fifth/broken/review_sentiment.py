import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
VOCAB, MAXLEN = 400, 24


def load(n=3000):
    rng = np.random.default_rng(13)
    polarity = rng.normal(0, 1, VOCAB) * (rng.random(VOCAB) < 0.25)
    x = np.zeros((n, MAXLEN), "int32")
    y = np.zeros(n, "float32")
    for i in range(n):
        m = 0 if rng.random() < 0.001 else rng.integers(3, MAXLEN + 1)
        x[i, :m] = rng.integers(1, VOCAB, m)
        y[i] = float(polarity[x[i, :m]].sum() > 0)
    return x, y


class WordAttention(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.key = layers.Dense(units, activation="tanh", name="key")
        self.score = layers.Dense(1, use_bias=False, name="score")

    def call(self, h, tokens):
        s = self.score(self.key(h))[..., 0]
        s = tf.where(tokens > 0, s, float("-inf"))
        w = tf.nn.softmax(s, axis=1)
        return tf.reduce_sum(h * w[..., None], axis=1)


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    tokens = keras.Input((MAXLEN,), dtype="int32")
    h = layers.Embedding(VOCAB, 24, name="words")(tokens)
    h = WordAttention(16, name="attention")(h, tokens)
    h = layers.Dense(24, activation="relu", name="fc")(h)
    out = layers.Dense(1, activation="sigmoid", name="positive")(h)
    model = keras.Model(tokens, out)
    model.compile(keras.optimizers.Adam(4e-3), "binary_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=6, verbose=2)


if __name__ == "__main__":
    main()
