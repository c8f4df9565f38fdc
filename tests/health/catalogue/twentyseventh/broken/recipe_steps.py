"""Tiny decoder-only transformer that writes machine recipes (token sequences)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
VOCAB, LENGTH, PROMPT, DIM = 12, 16, 8, 48


def recipes(n):
    """Every recipe repeats a motif of 4 codes, each round advanced by the same stride."""
    motif = rng.integers(0, VOCAB, (n, 4))
    stride = rng.integers(1, 4, (n, 1))
    rounds = [(motif + k * stride) % VOCAB for k in range(LENGTH // 4 + 1)]
    return np.concatenate(rounds, axis=1)[:, : LENGTH + 1].astype("int32")


class Positions(layers.Layer):
    def __init__(self, length, dim):
        super().__init__()
        self.table = layers.Embedding(length, dim)
        self.length = length

    def call(self, x):
        return x + self.table(ops.arange(self.length))


def block(x):
    h = layers.LayerNormalization()(x)
    h = layers.MultiHeadAttention(4, DIM // 4)(h, h)
    x = layers.Add()([x, h])
    h = layers.LayerNormalization()(x)
    h = layers.Dense(2 * DIM, activation="gelu")(h)
    h = layers.Dense(DIM)(h)
    return layers.Add()([x, h])


tokens_in = layers.Input((LENGTH,), dtype="int32")
x = layers.Embedding(VOCAB, DIM)(tokens_in)
x = Positions(LENGTH, DIM)(x)
for _ in range(2):
    x = block(x)
x = layers.LayerNormalization()(x)
logits = layers.Dense(VOCAB)(x)
model = keras.Model(tokens_in, logits)

train, test = recipes(5000), recipes(300)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train[:, :-1], train[:, 1:], batch_size=64, epochs=4, verbose=2)


def write(prompt):
    """Greedy continuation of the first PROMPT tokens."""
    seq = np.zeros((len(prompt), LENGTH), "int32")
    seq[:, :PROMPT] = prompt
    for pos in range(PROMPT, LENGTH):
        out = model.predict_on_batch(seq)
        seq[:, pos] = np.argmax(out[:, pos - 1], axis=-1)
    return seq


written = write(test[:, :PROMPT])
print("wanted ", test[0, :LENGTH])
print("written", written[0])
hits = written[:, PROMPT:] == test[:, PROMPT:LENGTH]
print("SCORE continuation_accuracy %.4f" % hits.mean())
