"""Which colour of box stands on the asked shelf? A small transformer reads the note."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SHELVES = ["ruma", "telo", "bani", "vosk", "hilu", "dape", "zorn", "mikk"]
COLOURS = ["rok", "blen", "grus", "pell", "wam", "tirp"]
WORDS = ["", *(f"{s}-{c}" for s in SHELVES for c in COLOURS), *(f"{s}?" for s in SHELVES)]
INDEX = {w: i for i, w in enumerate(WORDS)}
LONGEST = len(SHELVES) + 4


def notes(n):
    tokens = np.zeros((n, LONGEST), "int32")
    answer = np.zeros(n, "int32")
    for row in range(n):
        count = rng.integers(3, len(SHELVES) + 1)
        shelves = rng.permutation(len(SHELVES))[:count]
        colours = rng.integers(0, len(COLOURS), count)
        asked = rng.integers(count)
        text = [f"{SHELVES[shelves[asked]]}?"]
        text += [f"{SHELVES[s]}-{COLOURS[c]}" for s, c in zip(shelves, colours)]
        tokens[row, : len(text)] = [INDEX[w] for w in text]
        answer[row] = colours[asked]
    return tokens, answer


def block(x, mask, width):
    y = layers.LayerNormalization()(x)
    y = layers.MultiHeadAttention(4, width // 4)(y, y, attention_mask=mask)
    x = layers.Add()([x, y])
    y = layers.LayerNormalization()(x)
    y = layers.Dense(2 * width, activation="gelu")(y)
    return layers.Add()([x, layers.Dense(width)(y)])


def build(width=48):
    tokens = keras.Input((LONGEST,), dtype="int32")
    mask = ops.equal(tokens, 0)[:, None, :]
    x = layers.Embedding(len(WORDS), width)(tokens)
    for _ in range(2):
        x = block(x, mask, width)
    x = layers.LayerNormalization()(x[:, 0])
    return keras.Model(tokens, layers.Dense(len(COLOURS), activation="softmax")(x))


train_x, train_y = notes(12000)
test_x, test_y = notes(2000)
model = build()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_x, train_y, batch_size=64, epochs=3, validation_data=(test_x, test_y), verbose=2)
_, accuracy = model.evaluate(test_x, test_y, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
