"""Predicts board game ratings with a factorisation machine over player, game and setting."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PLAYERS, GAMES, GENRES, SEATS = 150, 90, 8, 5
RANK = 6


def make_ratings(n):
    """Tastes live in a small hidden space; a game's genre pulls its position in that space."""
    genre_of = rng.integers(0, GENRES, GAMES)
    genre_pos = rng.normal(size=(GENRES, 3))
    taste = rng.normal(size=(PLAYERS, 3))
    place = 0.7 * genre_pos[genre_of] + 0.7 * rng.normal(size=(GAMES, 3))
    mood = 0.3 * rng.normal(size=PLAYERS)
    fame = 0.4 * rng.normal(size=GAMES)
    best_seats = rng.integers(0, SEATS, GAMES)
    player = rng.integers(0, PLAYERS, n)
    popularity = rng.dirichlet(np.full(GAMES, 2.0))
    game = rng.choice(GAMES, size=n, p=popularity)
    seats = rng.integers(0, SEATS, n)
    rating = (
        mood[player]
        + fame[game]
        + 0.7 * (taste[player] * place[game]).sum(1)
        - 0.15 * np.abs(seats - best_seats[game])
        + 0.35 * rng.normal(size=n)
    )
    rating = np.clip(6.0 + 1.2 * rating, 1.0, 10.0)
    offsets = np.cumsum([0, PLAYERS, GAMES, GENRES])
    fields = np.stack([player, game, genre_of[game], seats], axis=1) + offsets
    return fields.astype("int32"), rating.astype("float32")


fields, rating = make_ratings(12000)
cut = 10000
average = rating[:cut].mean()
vocabulary = PLAYERS + GAMES + GENRES + SEATS


class FactorPairs(layers.Layer):
    """Sum over all pairs of fields of the dot product of their factors."""

    def __init__(self, vocabulary, rank, **kwargs):
        super().__init__(**kwargs)
        self.factors = layers.Embedding(
            vocabulary,
            rank,
            embeddings_initializer="zeros",
            embeddings_regularizer=keras.regularizers.L2(1e-6),
        )

    def call(self, ids):
        v = self.factors(ids)
        total = ops.square(ops.sum(v, axis=1))
        own = ops.sum(ops.square(v), axis=1)
        return 0.5 * ops.sum(total - own, axis=-1, keepdims=True)


class OffsetSum(layers.Layer):
    """One offset per category, summed over the fields."""

    def __init__(self, vocabulary, **kwargs):
        super().__init__(**kwargs)
        self.offsets = layers.Embedding(vocabulary, 1, embeddings_initializer="zeros")

    def call(self, ids):
        return ops.sum(self.offsets(ids), axis=1)


ids = keras.Input((4,), dtype="int32")
output = layers.Add()([OffsetSum(vocabulary)(ids), FactorPairs(vocabulary, RANK)(ids)])
model = keras.Model(ids, output)
watch = gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(0.015), loss="mse", metrics=["mae"])
model.fit(
    fields[:cut],
    rating[:cut] - average,
    validation_split=0.1,
    batch_size=256,
    epochs=14,
    verbose=2,
)

predicted = average + model.predict(fields[cut:], verbose=0)[:, 0]
truth = rating[cut:]
gain = 1.0 - np.mean((predicted - truth) ** 2) / np.mean((average - truth) ** 2)
print("score", round(float(gain), 4))
