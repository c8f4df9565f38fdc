import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 111)

VOCAB, LENGTH, MOODS = 400, 17, 6
mood_words = [rng.choice(np.arange(50, VOCAB), 30, replace=False) for _ in range(MOODS)]


def write_haiku(mood):
    line = rng.integers(1, VOCAB, LENGTH)
    spots = rng.choice(LENGTH, 4, replace=False)
    line[spots] = rng.choice(mood_words[mood], 4)
    return line


def make_corpus(n):
    y = rng.integers(0, MOODS, n)
    x = np.stack([write_haiku(m) for m in y])
    return x.astype("int32"), y.astype("int32")


x_train, y_train = make_corpus(6000)
x_test, y_test = make_corpus(1500)

tokens = layers.Input((LENGTH,), dtype="int32")
h = layers.Embedding(VOCAB, 32, name="word_embedding")(tokens)
att = layers.MultiHeadAttention(num_heads=2, key_dim=16, name="attention")(h, h)
h = layers.LayerNormalization(name="norm")(h + att)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu", name="mix")(h)
out = layers.Dense(MOODS, name="mood")(h)
model = keras.Model(tokens, out)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=10, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0).argmax(1)
print("SCORE", float(np.mean(pred == y_test)))
