import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
VOCAB, TOPICS = 300, 8


def load(n=4000):
    rng = np.random.default_rng(11)
    words = rng.dirichlet(np.full(VOCAB, 0.05), TOPICS)
    y = rng.integers(0, TOPICS, n)
    length = rng.poisson(14, n)
    length[rng.random(n) < 0.001] = 0
    x = np.stack([rng.multinomial(l, 0.7 * words[t] + 0.3 / VOCAB) for l, t in zip(length, y)])
    return x.astype("float32"), y


class TermShare(layers.Layer):
    def call(self, counts):
        total = tf.reduce_sum(counts, axis=1, keepdims=True)
        return counts / total


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    inp = keras.Input((VOCAB,))
    h = TermShare(name="term_share")(inp)
    h = layers.Dense(64, activation="relu", name="topic_hidden")(h)
    h = layers.Dropout(0.2)(h)
    out = layers.Dense(TOPICS, activation="softmax", name="topic")(h)
    model = keras.Model(inp, out)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=6, verbose=2)


if __name__ == "__main__":
    main()
