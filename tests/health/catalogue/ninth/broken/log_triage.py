"""Triage of server log lines into eight teams with a small transformer encoder."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

VOCAB, LENGTH, TEAMS = 300, 24, 8
D_MODEL, HEADS, BLOCKS = 32, 4, 3


def make_lines(n):
    rng = np.random.default_rng(SEED)
    team = rng.integers(0, TEAMS, n)
    # common words anywhere; each team has 12 words of its own, two to four per line
    line = np.minimum(rng.zipf(1.4, (n, LENGTH)), VOCAB - TEAMS * 12 - 1)
    own = VOCAB - TEAMS * 12 + team[:, None] * 12 + rng.integers(0, 12, (n, LENGTH))
    marked = rng.random((n, LENGTH)).argsort(1) < rng.integers(2, 5, (n, 1))
    return np.where(marked, own, line).astype("int32"), team


class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up, then decay with the inverse square root of the step."""

    def __init__(self, d_model, factor=2.0, warmup=20):
        self.scale = factor * d_model**-0.5
        self.warmup = warmup

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1.0
        return self.scale * ops.minimum(step**-0.5, step * self.warmup**-1.5)

    def get_config(self):
        return {}


class TokenAndPosition(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.token = layers.Embedding(VOCAB, D_MODEL)
        self.position = layers.Embedding(LENGTH, D_MODEL)

    def call(self, ids):
        return self.token(ids) + self.position(ops.arange(LENGTH))


def encoder_block(x, i):
    a = layers.MultiHeadAttention(HEADS, D_MODEL // HEADS, name=f"attention_{i}")(x, x)
    x = layers.LayerNormalization(name=f"norm_{i}a")(x + a)
    f = layers.Dense(4 * D_MODEL, activation="relu", name=f"wide_{i}")(x)
    f = layers.Dense(D_MODEL, name=f"narrow_{i}")(f)
    return layers.LayerNormalization(name=f"norm_{i}b")(x + f)


ids = keras.Input((LENGTH,), dtype="int32")
h = TokenAndPosition(name="words")(ids)
for i in range(BLOCKS):
    h = encoder_block(h, i)
h = layers.Lambda(lambda v: v[:, 0], output_shape=(D_MODEL,), name="first")(h)
model = keras.Model(ids, layers.Dense(TEAMS, activation="softmax", name="team")(h))
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(WarmupSchedule(D_MODEL), beta_2=0.98, epsilon=1e-9)
model.compile(optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])

lines, team = make_lines(6400)
model.fit(lines, team, batch_size=64, epochs=3, verbose=2)
