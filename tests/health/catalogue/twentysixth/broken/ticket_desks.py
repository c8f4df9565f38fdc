"""Routing of support tickets: which product does the sentence's complaint point to (small transformer)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

PAD, CLS, COMPLAINT = 0, 1, 2
PRODUCTS = np.arange(3, 9)
OTHER = np.arange(9, 40)
VOCAB, MAX_LEN, DIM = 40, 16, 32


def make_tickets(n):
    """[CLS] words ... ; several products are named, the word after COMPLAINT is the one that counts."""
    x = np.full((n, MAX_LEN), PAD, "int32")
    y = np.zeros(n, "int32")
    for i in range(n):
        length = rng.integers(7, MAX_LEN)
        words = rng.choice(OTHER, length)
        words[0] = CLS
        named = rng.choice(np.arange(1, length), 3, replace=False)
        words[named] = rng.choice(PRODUCTS, 3)
        at = rng.integers(1, length - 1)
        words[at], words[at + 1] = COMPLAINT, rng.choice(PRODUCTS)
        x[i, :length] = words
        y[i] = words[at + 1] - PRODUCTS[0]
    return x, y


class TokenAndPosition(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.token = layers.Embedding(VOCAB, DIM)
        self.position = layers.Embedding(MAX_LEN, DIM)

    def call(self, tokens):
        return self.token(tokens) + self.position(ops.arange(MAX_LEN))

    def compute_output_shape(self, shape):
        return (*shape, DIM)


class PaddingMask(layers.Layer):
    def call(self, tokens):
        return ops.equal(tokens, PAD)[:, None, :]

    def compute_output_shape(self, shape):
        return (shape[0], 1, shape[1])


def block(h, mask):
    a = layers.LayerNormalization(epsilon=1e-5)(h)
    a = layers.MultiHeadAttention(4, DIM // 4)(a, a, attention_mask=mask)
    h = layers.Add()([h, a])
    f = layers.LayerNormalization(epsilon=1e-5)(h)
    f = layers.Dense(2 * DIM, activation="gelu")(f)
    f = layers.Dense(DIM)(f)
    return layers.Add()([h, f])


def build():
    tokens = keras.Input((MAX_LEN,), dtype="int32")
    mask = PaddingMask()(tokens)
    h = TokenAndPosition()(tokens)
    for _ in range(2):
        h = block(h, mask)
    h = layers.LayerNormalization(epsilon=1e-5)(h)
    return keras.Model(tokens, layers.Dense(len(PRODUCTS), activation="softmax")(h[:, 0]))


x_train, y_train = make_tickets(6000)
x_test, y_test = make_tickets(1000)

model = build()
model.compile(
    optimizer=keras.optimizers.AdamW(3e-3, weight_decay=1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=5, validation_data=(x_test, y_test), verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))
