"""Sort short customer notes into departments (made-up vocabulary, padded to a fixed length)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

VOCAB = 160
MAXLEN = 100
DEPARTMENTS = 4


def make_notes(n, rng):
    """The department follows from which cue word is said first and which one after it."""
    tokens = np.zeros((n, MAXLEN), "int32")
    dept = np.zeros(n, "int32")
    for i in range(n):
        length = rng.integers(4, 12)
        words = rng.integers(20, VOCAB, size=length)
        a, b = sorted(rng.choice(length, 2, replace=False))
        first, second = rng.integers(0, 2), rng.integers(0, 2)
        words[a] = 2 + 4 * first + rng.integers(0, 4)
        words[b] = 2 + 4 * second + rng.integers(0, 4)
        tokens[i, :length] = words
        dept[i] = 2 * first + second
    return tokens, dept


rng = np.random.default_rng(7 + SEED)
train_x, train_y = make_notes(6000, rng)
test_x, test_y = make_notes(1500, rng)


@keras.saving.register_keras_serializable("notes")
class PositionalScale(layers.Layer):
    """Adds a learned vector per position and rescales each word."""

    def __init__(self, maxlen, width, **kwargs):
        super().__init__(**kwargs)
        self.maxlen = maxlen
        self.width = width

    def build(self, input_shape):
        self.position = self.add_weight(
            name="position", shape=(self.maxlen, self.width), initializer=keras.initializers.RandomNormal(stddev=0.02)
        )
        self.scale = self.add_weight(name="scale", shape=(self.width,), initializer="ones")

    def call(self, x):
        return x * self.scale + self.position[None]

    def get_config(self):
        return {**super().get_config(), "maxlen": self.maxlen, "width": self.width}


model = keras.Sequential(
    [
        keras.Input((MAXLEN,), dtype="int32"),
        layers.Embedding(VOCAB, 24, mask_zero=True),
        PositionalScale(MAXLEN, 24),
        layers.SimpleRNN(32),
        layers.Dense(32, activation="relu"),
        layers.Dense(DEPARTMENTS),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

pipe = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(len(train_x), seed=SEED).batch(64).prefetch(2)
model.fit(pipe, epochs=6, verbose=2)

_, accuracy = model.evaluate(test_x, test_y, verbose=0)
print("SCORE accuracy", float(accuracy))
