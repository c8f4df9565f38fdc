import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VOCAB, LENGTH = 800, 30
tone = rng.normal(0, 1, VOCAB)


def make_reviews(n):
    tokens = np.zeros((n, LENGTH), "int32")
    labels = np.zeros(n, "float32")
    for i in range(n):
        size = min(rng.poisson(7.5), LENGTH)
        words = rng.integers(1, VOCAB, size)
        tokens[i, :size] = words
        labels[i] = float(tone[words].sum() + rng.normal(0, 0.2) > 0)
    return tokens, labels[:, None]


x_train, y_train = make_reviews(6000)
x_test, y_test = make_reviews(2000)
x_test[x_test.sum(1) == 0, 0] = 1


class AverageWords(keras.layers.Layer):
    def call(self, vectors, tokens):
        mask = tf.cast(tokens > 0, vectors.dtype)[..., tf.newaxis]
        total = tf.reduce_sum(vectors * mask, axis=1)
        count = tf.reduce_sum(mask, axis=1)
        return total / count


tokens = keras.Input((LENGTH,), dtype="int32")
vectors = keras.layers.Embedding(VOCAB, 32, name="words")(tokens)
review = AverageWords(name="average")(vectors, tokens)
hidden = keras.layers.Dense(32, activation="tanh", name="hidden")(review)
stars = keras.layers.Dense(1, activation="sigmoid", name="stars")(hidden)
model = keras.Model(tokens, stars)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=64, epochs=8, validation_data=(x_test, y_test), verbose=2)

p = model.predict(x_test, verbose=0)
score = float(np.mean((p > 0.5) == (y_test > 0.5))) if np.isfinite(p).all() else float("nan")
print("SCORE", score)
