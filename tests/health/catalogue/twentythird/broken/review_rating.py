"""Predict the rating of a product review with an attention-pooled text encoder in mixed precision."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(seed)

VOCAB, MAX_LEN = 400, 24
sentiment = np.where(rng.random(VOCAB) < 0.25, rng.normal(0, 1.5, VOCAB), 0.0)


def make_reviews(n):
    tokens = np.zeros((n, MAX_LEN), dtype="int32")
    rating = np.zeros(n, dtype="float32")
    for i in range(n):
        length = rng.integers(4, MAX_LEN + 1)
        words = rng.integers(1, VOCAB, length)
        tokens[i, :length] = words
        rating[i] = 3.0 + 2.0 * np.tanh(sentiment[words].sum() / np.sqrt(length)) + 0.1 * rng.normal()
    return tokens, rating[:, None]


x_train, y_train = make_reviews(9000)
x_test, y_test = make_reviews(2000)


class AttentionPooling(keras.layers.Layer):
    """Weighs the tokens of a sequence with a learned query, leaving out the padding."""

    def __init__(self, units, heads=4, **kwargs):
        super().__init__(**kwargs)
        self.key = keras.layers.Dense(units, activation="tanh")
        self.query = keras.layers.Dense(heads, use_bias=False)
        self.value = keras.layers.Dense(units)

    def call(self, h, tokens):
        padding = tf.cast(tf.equal(tokens, 0), h.dtype)
        scores = self.query(self.key(h)) + padding[:, :, None] * -1e9
        weights = tf.nn.softmax(scores, axis=1)
        pooled = tf.einsum("blh,blu->bhu", weights, self.value(h))
        return tf.reshape(pooled, (-1, pooled.shape[1] * pooled.shape[2]))


tokens_in = keras.Input((MAX_LEN,), dtype="int32")
h = keras.layers.Embedding(VOCAB, 24)(tokens_in)
h = keras.layers.Dense(32, activation="relu")(h)
h = AttentionPooling(24)(h, tokens_in)
h = keras.layers.Dense(32, activation="relu")(h)
rating = keras.layers.Dense(1, dtype="float32")(h)
model = keras.Model(tokens_in, rating)

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train - 3.0, batch_size=90, epochs=5, verbose=2)

pred = model.predict(x_test, verbose=0) + 3.0
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))
