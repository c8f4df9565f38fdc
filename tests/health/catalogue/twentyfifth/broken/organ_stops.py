"""Loudness of an organ chord from the list of drawn stops (padded with 0)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STOPS, LONGEST, WIDTH = 40, 20, 32
POWER = rng.gamma(2.0, 1.0, STOPS + 1)
MELLOW = rng.normal(size=STOPS + 1)


def make(n):
    tokens = np.zeros((n, LONGEST), "int32")
    loudness = np.zeros(n, "float32")
    for i in range(n):
        count = rng.integers(3, 13)
        drawn = rng.choice(np.arange(1, STOPS + 1), count, replace=False)
        tokens[i, :count] = drawn
        loudness[i] = POWER[drawn].max() + 1.5 * np.tanh(MELLOW[drawn].mean() * 2)
    return tokens, loudness


x_train, y_train = make(9000)
x_test, y_test = make(2000)
mean, std = y_train.mean(), y_train.std()


class StopsToLoudness(layers.Layer):
    """Two learned questions put to the drawn stops."""

    def __init__(self, width, heads, questions=2, **kwargs):
        super().__init__(**kwargs)
        self.embed = layers.Embedding(STOPS + 1, width)
        self.up = layers.Dense(width, activation="gelu")
        self.attend = layers.MultiHeadAttention(heads, width // heads, dropout=0.02)
        self.norm = layers.LayerNormalization(epsilon=1e-6)
        self.questions = self.add_weight(shape=(1, questions, width), initializer="random_normal", name="questions")

    def call(self, tokens, training=False):
        padding_mask = ops.equal(tokens, 0)
        h = self.up(self.embed(tokens))
        q = ops.repeat(self.questions, ops.shape(tokens)[0], axis=0)
        a = self.attend(q, h, attention_mask=padding_mask[:, None, :], training=training)
        return self.norm(q + a)


tokens = keras.Input((LONGEST,), dtype="int32")
h = StopsToLoudness(WIDTH, 4)(tokens)
h = layers.Flatten()(h)
h = layers.Dense(48, activation="gelu")(h)
out = layers.Dense(1)(h)
model = keras.Model(tokens, out, name="organ")

steps = 12 * (9000 // 100)
schedule = keras.optimizers.schedules.CosineDecay(0.0, steps - 60, warmup_target=3e-3, warmup_steps=60)
model.compile(optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-4), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(x_train, (y_train - mean) / std, batch_size=100, epochs=12, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0] * std + mean
print("SCORE test_r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
