"""Masked tokens in short phrases.

A small transformer learns a toy language by filling in masked tokens; only the masked places count in the loss.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
WORDS = 24
MASK = WORDS
LENGTH = 16
WIDTH = 48
BATCH = 64
EPOCHS = 6

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_phrases(n):
    """The second half repeats the first, each word with its partner."""
    partner = np.random.default_rng(7).permutation(WORDS)
    half = rng.integers(0, WORDS, (n, LENGTH // 2))
    phrase = np.concatenate([half, partner[half]], axis=1)
    hidden = rng.random(phrase.shape) < 0.15
    hidden[:, LENGTH // 2 :] &= ~hidden[:, : LENGTH // 2]
    hidden[np.arange(n), rng.integers(0, LENGTH // 2, n)] |= ~hidden.any(axis=1)
    seen = np.where(hidden, MASK, phrase)
    return seen.astype("int32"), phrase.astype("int32"), hidden.astype("float32")


class Tokens(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.word = layers.Embedding(WORDS + 1, WIDTH, name="word")
        self.place = layers.Embedding(LENGTH, WIDTH, name="place")

    def build(self, shape):
        self.word.build(shape)
        self.place.build((LENGTH,))
        super().build(shape)

    def call(self, tokens):
        return (self.word(tokens) + self.place(tf.range(LENGTH))) * 5.0


def encoder(h, name):
    mixed = layers.LayerNormalization(name=f"{name}_norm_1")(h)
    mixed = layers.MultiHeadAttention(4, WIDTH // 4, name=f"{name}_attention")(mixed, mixed)
    h = layers.Add(name=f"{name}_add_1")([h, mixed])
    wide = layers.LayerNormalization(name=f"{name}_norm_2")(h)
    wide = layers.Dense(2 * WIDTH, activation="gelu", name=f"{name}_wide")(wide)
    wide = layers.Dense(WIDTH, name=f"{name}_narrow")(wide)
    return layers.Add(name=f"{name}_add_2")([h, wide])


seen, phrase, hidden = make_phrases(4096)
seen_test, phrase_test, hidden_test = make_phrases(600)

inputs = keras.Input((LENGTH,), dtype="int32", name="seen")
h = Tokens(name="tokens")(inputs)
h = encoder(h, "encoder_1")
h = encoder(h, "encoder_2")
h = layers.LayerNormalization(name="norm")(h)
logits = layers.Dense(WORDS, name="filled")(h)
model = keras.Model(inputs, logits, name="masked_phrases")
gradwatch.watch(model)

steps = EPOCHS * (len(seen) // BATCH)
rate = keras.optimizers.schedules.CosineDecay(0.0, steps - 40, alpha=0.05, warmup_target=3e-3, warmup_steps=40)
model.compile(
    optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-4, global_clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(
    seen,
    phrase,
    sample_weight=hidden * (LENGTH / hidden.sum(axis=1).mean()),
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
)

filled = model.predict(seen_test, verbose=0).argmax(axis=-1)
accuracy = np.mean(filled[hidden_test > 0] == phrase_test[hidden_test > 0])
print(f"score accuracy {accuracy:.4f} chance {1 / WORDS:.4f}")
