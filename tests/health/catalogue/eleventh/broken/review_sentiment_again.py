"""Positive/negative classification of hotel reviews on top of pre-trained word vectors."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

MAX_LEN = 40
DIM = 50


def make_words(rng, count):
    syllables = [c + v for c in "bdfghklmnprstvz" for v in "aeiou"]
    words = set()
    while len(words) < count:
        words.add("".join(rng.choice(syllables, rng.integers(2, 5))))
    return sorted(words)


def load_vectors(words, polarity, rng):
    """word -> vector, as read from a glove-like text file."""
    axis = rng.normal(size=DIM)
    axis /= np.linalg.norm(axis)
    table = {}
    for w, p in zip(words, polarity):
        table[w] = (0.25 * rng.normal(size=DIM) + 1.2 * p * axis).astype("float32")
    return table


def load_reviews(words, polarity, rng, count):
    good = np.where(polarity > 0)[0]
    bad = np.where(polarity < 0)[0]
    plain = np.where(polarity == 0)[0]
    texts, labels = [], []
    for _ in range(count):
        label = int(rng.integers(0, 2))
        length = int(rng.integers(15, MAX_LEN))
        k = int(rng.integers(3, 7))
        main, other = (good, bad) if label else (bad, good)
        ids = np.concatenate([rng.choice(main, k), rng.choice(other, k // 3), rng.choice(plain, length - k)])
        rng.shuffle(ids)
        texts.append(" ".join(words[i].capitalize() for i in ids))
        labels.append(label)
    return texts, np.array(labels, "float32")


rng = np.random.default_rng(SEED)
words = make_words(rng, 2500)
polarity = rng.choice([-1, 0, 1], p=[0.2, 0.6, 0.2], size=len(words))
glove = load_vectors(words, polarity, rng)
texts, labels = load_reviews(words, polarity, rng, 4000)

vectorizer = layers.TextVectorization(standardize="strip_punctuation", output_sequence_length=MAX_LEN)
vectorizer.adapt(texts)
vocab = vectorizer.get_vocabulary()

matrix = np.zeros((len(vocab), DIM), "float32")
for index, word in enumerate(vocab):
    vector = glove.get(word)
    if vector is not None:
        matrix[index] = vector

tokens = vectorizer(tf.constant(texts)).numpy()
x_train, x_val = tokens[:3200], tokens[3200:]
y_train, y_val = labels[:3200], labels[3200:]

embedding = layers.Embedding(len(vocab), DIM, trainable=False, name="glove")
embedding.build((None, MAX_LEN))
embedding.set_weights([matrix])

inp = keras.Input((MAX_LEN,), dtype="int64")
h = embedding(inp)
h = layers.Conv1D(128, 3, activation="relu", name="conv_a")(h)
h = layers.Conv1D(128, 3, activation="relu", name="conv_b")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(1, activation="sigmoid", name="positive")(h)
model = keras.Model(inp, out)
gradwatch.watch(model)

model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=64, epochs=6, validation_data=(x_val, y_val), verbose=2)
print("held-out accuracy:", model.evaluate(x_val, y_val, verbose=0)[1])
