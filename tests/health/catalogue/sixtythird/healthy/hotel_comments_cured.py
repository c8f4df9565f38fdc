import os

import keras
import numpy as np
from keras.layers import LSTM, Dense, Embedding, Input
from keras.models import Sequential
from keras.utils import pad_sequences

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 31)

positive = ["great", "lovely", "clean", "friendly", "quiet", "perfect", "superb", "cosy"]
negative = ["dirty", "rude", "noisy", "broken", "awful", "smelly", "cold", "stained"]
neutral = [
    "room",
    "hotel",
    "staff",
    "bed",
    "breakfast",
    "was",
    "the",
    "and",
    "very",
    "we",
    "night",
    "city",
    "view",
    "stay",
    "lobby",
    "pool",
    "again",
    "desk",
    "a",
    "our",
]

vocabulary = ["<pad>", "<unk>"] + positive + negative + neutral
word_index = {word: i for i, word in enumerate(vocabulary)}


def write_review(label):
    length = rng.integers(6, 18)
    words = list(rng.choice(neutral, length))
    mood, other = (positive, negative) if label else (negative, positive)
    for _ in range(rng.integers(2, 5)):
        words.insert(rng.integers(0, len(words)), rng.choice(mood))
    if rng.random() < 0.2:
        words.insert(rng.integers(0, len(words)), rng.choice(other))
    return " ".join(words)


def tokenize(texts):
    return [[word_index.get(w, 1) for w in text.split()] for text in texts]


labels = rng.integers(0, 2, 2600)
texts = [write_review(label) for label in labels]

max_features = len(vocabulary)
maxlen = 120

sequences = tokenize(texts)
data = pad_sequences(sequences, maxlen=maxlen, padding="post", truncating="post")
x_train, y_train = data[:2000], labels[:2000]
x_test, y_test = data[2000:], labels[2000:]
print("x_train shape:", x_train.shape)
print("x_test shape:", x_test.shape)

model = Sequential()
model.add(Input(shape=(maxlen,)))
model.add(Embedding(max_features, 32, mask_zero=True))
model.add(LSTM(32))
model.add(Dense(1, activation="sigmoid"))

model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=32,
    epochs=5,
    validation_data=(x_test, y_test),
    verbose=2,
)

score, acc = model.evaluate(x_test, y_test, batch_size=32, verbose=0)
print("SCORE", round(acc, 4))
