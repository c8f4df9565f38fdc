import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

VOCAB = 300
LENGTH = 24
QUEUES = 5
LEARNING_RATE = 1e-6


def letters(n, seed):
    rng = np.random.default_rng(seed)
    queue = rng.integers(0, QUEUES, n)
    words = rng.integers(50, VOCAB, (n, LENGTH))
    for i, q in enumerate(queue):
        spots = rng.choice(LENGTH, 4, replace=False)
        words[i, spots] = 1 + q * 8 + rng.integers(0, 8, 4)
    return words.astype("int32"), queue.astype("int32")


class EncoderBlock(layers.Layer):
    def __init__(self, dim, heads, **kwargs):
        super().__init__(**kwargs)
        self.attention = layers.MultiHeadAttention(heads, dim // heads)
        self.norm_1 = layers.LayerNormalization()
        self.norm_2 = layers.LayerNormalization()
        self.expand = layers.Dense(dim * 2, activation="gelu")
        self.project = layers.Dense(dim)

    def build(self, shape):
        self.attention.build(shape, shape)
        self.norm_1.build(shape)
        self.norm_2.build(shape)
        self.expand.build(shape)
        self.project.build((*shape[:-1], shape[-1] * 2))

    def call(self, x):
        x = x + self.attention(self.norm_1(x), self.norm_1(x))
        return x + self.project(self.expand(self.norm_2(x)))


x_train, y_train = letters(3000, SEED)
x_test, y_test = letters(800, SEED + 500)

tokens = keras.Input((LENGTH,), dtype="int32")
h = layers.Embedding(VOCAB, 32, name="words")(tokens)
h = EncoderBlock(32, 2, name="block")(h)
h = layers.GlobalAveragePooling1D()(h)
out = layers.Dense(QUEUES, activation="softmax", name="queue")(h)
model = keras.Model(tokens, out)
model.compile(
    optimizer=keras.optimizers.Adam(LEARNING_RATE), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=0)

_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", float(acc))
