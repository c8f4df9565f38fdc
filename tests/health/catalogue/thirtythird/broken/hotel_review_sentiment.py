"""Classify hotel reviews as positive or negative with pretrained word vectors and a GRU."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GOOD = ["Great", "Lovely", "Clean", "Friendly", "Comfortable", "Quiet", "Excellent", "Perfect", "Helpful", "Spacious"]
BAD = ["Dirty", "Rude", "Noisy", "Terrible", "Broken", "Awful", "Smelly", "Overpriced", "Cramped", "Disappointing"]
NOUNS = ["Room", "Staff", "Breakfast", "Bed", "Pool", "Location", "Bathroom", "Lobby", "Service", "View"]
FILL = [
    "The",
    "Was",
    "Very",
    "And",
    "A",
    "We",
    "Our",
    "Stay",
    "Quite",
    "It",
    "In",
    "Really",
    "With",
    "Had",
    "Is",
    "There",
]
NEGATE = ["Not"]
DIM, MAXLEN = 24, 24


def review(positive):
    words = []
    for _ in range(rng.integers(3, 6)):
        agree = rng.random() < 0.85
        good = positive == agree
        flip = rng.random() < 0.25
        adjective = rng.choice(GOOD if good != flip else BAD)
        part = ["The", rng.choice(NOUNS), "Was"] + (["Not"] if flip else []) + [adjective]
        words += part + list(rng.choice(FILL, rng.integers(0, 2)))
    return " ".join(str(w) for w in words[:MAXLEN])


def word_vectors():
    """Stand-in for the downloaded vector file: lower-case word -> vector."""
    tone = rng.normal(size=DIM)
    index = {}
    for group, sign in ((GOOD, 1.0), (BAD, -1.0), (NOUNS, 0.0), (FILL, 0.0), (NEGATE, 0.0)):
        centre = rng.normal(size=DIM) * 0.3
        for word in group:
            index[word.lower()] = centre + 0.35 * sign * tone + 0.35 * rng.normal(size=DIM)
    return index


n = 5000
labels = rng.integers(0, 2, n)
texts = [review(bool(k)) for k in labels]

word_index = {}
for text in texts:
    for word in text.split():
        word_index.setdefault(word, len(word_index) + 1)
sequences = np.zeros((n, MAXLEN), "int32")
for i, text in enumerate(texts):
    ids = [word_index[w] for w in text.split()]
    sequences[i, : len(ids)] = ids

embeddings_index = word_vectors()
embedding_matrix = np.zeros((len(word_index) + 1, DIM))
for word, i in word_index.items():
    vector = embeddings_index.get(word)
    if vector is not None:
        embedding_matrix[i] = vector

embedding = layers.Embedding(len(word_index) + 1, DIM, mask_zero=True, trainable=False)
model = keras.Sequential(
    [
        layers.Input((MAXLEN,), dtype="int32"),
        embedding,
        layers.GRU(24),
        layers.Dropout(0.2),
        layers.Dense(1, activation="sigmoid"),
    ]
)
embedding.set_weights([embedding_matrix])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(
    sequences[:4000],
    labels[:4000],
    validation_data=(sequences[4000:4400], labels[4000:4400]),
    epochs=6,
    batch_size=32,
    verbose=2,
)

p = model.predict(sequences[4400:], verbose=0)[:, 0]
print("SCORE accuracy", round(float(((p > 0.5) == labels[4400:]).mean()), 4))
