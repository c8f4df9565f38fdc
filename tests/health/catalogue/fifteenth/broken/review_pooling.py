"""Sentiment of short hotel reviews with an attention-pooled bag of words."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VOCAB = 500
MAX_LEN = 24
BATCH = 64
EPOCHS = 4

polarity = np.zeros(VOCAB)
polarity[20:70] = rng.uniform(0.8, 2.0, 50)
polarity[70:120] = -rng.uniform(0.8, 2.0, 50)
frequency = 1.0 / np.arange(1, VOCAB + 1) ** 0.3
frequency[0] = 0.0
frequency /= frequency.sum()


def make_reviews(n):
    """Token ids left after stop-word removal, padded with 0, and the star label."""
    tokens = np.zeros((n, MAX_LEN), "int32")
    labels = np.zeros(n, "float32")
    for i in range(n):
        length = min(rng.poisson(7.5), MAX_LEN)
        mood = rng.choice([-1, 1])
        weights = frequency * np.exp(0.9 * mood * polarity)
        words = rng.choice(VOCAB, size=length, p=weights / weights.sum())
        tokens[i, :length] = words
        labels[i] = mood > 0
    return tokens, labels


class AttentionPool(layers.Layer):
    """Weights every word by a learned relevance and sums."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.hidden = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1)

    def build(self, tokens_shape, vectors_shape):
        self.hidden.build(vectors_shape)
        self.score.build(tuple(vectors_shape[:-1]) + (self.hidden.units,))
        self.built = True

    def call(self, tokens, vectors):
        mask = tf.not_equal(tokens, 0)
        scores = tf.squeeze(self.score(self.hidden(vectors)), axis=-1)
        scores = tf.where(mask, scores, -np.inf)
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.reduce_sum(weights[..., None] * vectors, axis=1)

    def compute_output_shape(self, tokens_shape, vectors_shape):
        return (vectors_shape[0], vectors_shape[-1])


def build_model():
    tokens = keras.Input((MAX_LEN,), dtype="int32")
    vectors = layers.Embedding(VOCAB, 24)(tokens)
    pooled = AttentionPool(16)(tokens, vectors)
    x = layers.Dense(32, activation="relu")(pooled)
    x = layers.Dropout(0.2)(x)
    out = layers.Dense(1, activation="sigmoid")(x)
    return keras.Model(tokens, out)


x_train, y_train = make_reviews(10000)
x_test, y_test = make_reviews(2000)

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

prob = model.predict(x_test, verbose=0)[:, 0]
score = float(np.mean((prob > 0.5) == (y_test > 0.5)))
print("score", score)
