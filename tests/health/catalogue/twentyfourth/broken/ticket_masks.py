"""Route support tickets (token ids of varying length) to one of five teams."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, MAXLEN, TEAMS, DIM = 300, 32, 5, 32
keywords = rng.permutation(np.arange(50, VOCAB))[: TEAMS * 12].reshape(TEAMS, 12)


def make_tickets(n):
    tokens = np.zeros((n, MAXLEN), "int32")
    team = rng.integers(0, TEAMS, n)
    for i in range(n):
        length = rng.integers(8, MAXLEN - 2)
        tokens[i, :length] = rng.integers(1, VOCAB, length)
        spots = rng.choice(length, 3, replace=False)
        tokens[i, spots] = rng.choice(keywords[team[i]], 3)
    return tokens, team.astype("int32")


x_train, y_train = make_tickets(4000)
x_test, y_test = make_tickets(800)


class Block(layers.Layer):
    def __init__(self, heads, dim, **kwargs):
        super().__init__(**kwargs)
        self.attention = layers.MultiHeadAttention(heads, dim // heads)
        self.norm1 = layers.LayerNormalization()
        self.ffn1 = layers.Dense(2 * dim, activation="gelu")
        self.ffn2 = layers.Dense(dim)

    def call(self, query, context, padding_mask):
        mask = padding_mask[:, tf.newaxis, :]
        attended = self.attention(query, context, attention_mask=mask)
        h = self.norm1(query + attended)
        return h + self.ffn2(self.ffn1(h))


class Router(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, DIM)
        self.query = self.add_weight(shape=(1, 1, DIM), initializer="glorot_uniform", name="query")
        self.block = Block(4, DIM)
        self.head = layers.Dense(TEAMS)

    def call(self, tokens):
        padding_mask = tf.equal(tokens, 0)
        h = self.embed(tokens)
        query = tf.repeat(self.query, tf.shape(tokens)[0], axis=0)
        summary = self.block(query, h, padding_mask)
        return self.head(summary[:, 0])


model = Router()
model.build((None, MAXLEN))
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, validation_data=(x_test, y_test), verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", float(accuracy))
