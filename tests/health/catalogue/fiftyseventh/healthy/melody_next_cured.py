import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NOTES, LENGTH = 10, 24
rule = rng.integers(0, NOTES, (NOTES, NOTES))


def compose(n, length):
    song = np.zeros((n, length), "int32")
    song[:, :2] = rng.integers(0, NOTES, (n, 2))
    for t in range(2, length):
        nxt = rule[song[:, t - 2], song[:, t - 1]]
        slip = rng.random(n) < 0.1
        song[:, t] = np.where(slip, rng.integers(0, NOTES, n), nxt)
    return song


class Block(keras.layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = keras.layers.MultiHeadAttention(heads, dim // heads)
        self.norm1 = keras.layers.LayerNormalization()
        self.norm2 = keras.layers.LayerNormalization()
        self.ff = keras.Sequential([keras.layers.Dense(4 * dim, activation="relu"), keras.layers.Dense(dim)])

    def call(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, use_causal_mask=True)
        return x + self.ff(self.norm2(x))


class MelodyModel(keras.Model):
    def __init__(self, dim=48):
        super().__init__()
        self.notes = keras.layers.Embedding(NOTES, dim)
        self.places = keras.layers.Embedding(LENGTH, dim)
        self.blocks = [Block(dim, 4) for _ in range(2)]
        self.norm = keras.layers.LayerNormalization()
        self.out = keras.layers.Dense(NOTES)

    def call(self, tokens):
        x = self.notes(tokens) + self.places(tf.range(tf.shape(tokens)[1]))
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


songs = compose(4000, LENGTH + 1)
data = (
    tf.data.Dataset.from_tensor_slices(songs)
    .map(lambda s: (s[:-1], s[1:]))
    .shuffle(4000, seed=SEED)
    .batch(64, drop_remainder=True)
)
model = MelodyModel()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(data, epochs=8, verbose=2)

fresh = compose(1000, 15)
hits = []
for length in (8, 11, 14):
    guess = model(fresh[:, :length]).numpy()[:, -1].argmax(-1)
    hits.append(np.mean(guess == rule[fresh[:, length - 2], fresh[:, length - 1]]))
print("SCORE", float(np.mean(hits)))
