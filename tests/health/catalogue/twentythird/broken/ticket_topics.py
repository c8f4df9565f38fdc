"""Routes support tickets (token ids, padded on the right) to one of four teams."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH, WIDTH, TEAMS = 300, 32, 32, 4
PAD = 0


def tickets(count):
    tokens = np.zeros((count, LENGTH), dtype="int32")
    teams = rng.integers(0, TEAMS, count)
    for row, team in zip(tokens, teams):
        n = rng.integers(8, LENGTH - 1)
        row[:n] = rng.integers(60, VOCAB, n)
        hints = rng.choice(n, size=3, replace=False)
        row[hints] = 1 + team * 12 + rng.integers(0, 12, 3)
        if rng.random() < 0.5:
            other = rng.integers(0, TEAMS)
            row[rng.integers(0, n)] = 1 + other * 12 + rng.integers(0, 12)
    return tokens, teams.astype("int32")


class PaddingMask(keras.layers.Layer):
    """Mask over the key positions, broadcast over the queries."""

    def call(self, tokens):
        return keras.ops.equal(tokens, PAD)[:, None, :]


class LearnedQuery(keras.layers.Layer):
    def build(self, shape):
        self.query = self.add_weight(shape=(1, 1, shape[-1]), initializer="glorot_uniform", name="query")

    def call(self, x):
        return keras.ops.repeat(self.query, keras.ops.shape(x)[0], axis=0)


tokens = keras.Input((LENGTH,), dtype="int32")
mask = PaddingMask()(tokens)
x = keras.layers.Embedding(VOCAB, WIDTH)(tokens)
positions = keras.layers.Embedding(LENGTH, WIDTH)(np.arange(LENGTH)[None])
x = keras.layers.LayerNormalization()(x + positions)
query = LearnedQuery()(x)
pooled = keras.layers.MultiHeadAttention(4, WIDTH // 4)(query, x, attention_mask=mask)
h = keras.layers.Flatten()(pooled)
h = keras.layers.Dense(32, activation="relu")(h)
h = keras.layers.Dropout(0.1)(h)
model = keras.Model(tokens, keras.layers.Dense(TEAMS)(h))
model.compile(
    optimizer=keras.optimizers.AdamW(3e-3, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

x_train, y_train = tickets(6000)
x_test, y_test = tickets(1000)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, batch_size=250, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
