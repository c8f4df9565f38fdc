"""Reviews of inns in an invented language: is the guest pleased?"""

import os
from collections import Counter

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PRAISE = ["melora", "tavin", "sorelle", "bunavi", "carisu", "ollen", "prasti", "vellu"]
BLAME = ["grusk", "dorhak", "moltrep", "skavit", "brundo", "zerk", "hustol", "kragu"]
THINGS = ["lit", "pano", "sule", "fenta", "dvor", "gasto", "ruma", "tesse", "aquel", "minda"]
FILLER = ["os", "en", "ta", "mi", "lur", "ko", "vas", "ire", "bel", "sto", "nau", "pir"]
MAX_LEN = 24


def review():
    words, mood = [], 0
    for _ in range(rng.integers(2, 6)):
        good = rng.random() < 0.5
        denied = rng.random() < 0.45
        words += list(rng.choice(FILLER, rng.integers(0, 2)))
        if denied:
            words.append("ne")
        words.append(rng.choice(PRAISE if good else BLAME))
        words.append(rng.choice(THINGS))
        mood += 1 if good != denied else -1
    return words, mood


def make_set(n):
    texts, labels = [], []
    while len(texts) < n:
        words, mood = review()
        if mood != 0:
            texts.append(words)
            labels.append(int(mood > 0))
    return texts, np.array(labels, "float32")


train_texts, y_train = make_set(4000)
test_texts, y_test = make_set(1000)

counts = Counter(word for text in train_texts for word in text)
vocabulary = {word: i for i, (word, _) in enumerate(counts.most_common(), start=1)}


def to_ids(texts):
    ids = [[vocabulary[w] for w in text if w in vocabulary] for text in texts]
    return keras.utils.pad_sequences(ids, maxlen=MAX_LEN, padding="post", truncating="post")


x_train, x_test = to_ids(train_texts), to_ids(test_texts)

model = keras.Sequential(
    [
        keras.Input((MAX_LEN,), dtype="int32"),
        layers.Embedding(len(vocabulary) + 1, 24, mask_zero=True, name="words"),
        layers.Bidirectional(layers.GRU(24), name="reader"),
        layers.Dense(16, activation="relu", name="opinion"),
        layers.Dense(1, activation="sigmoid", name="pleased"),
    ],
    name="reviews",
)
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="binary_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=64, epochs=8, validation_split=0.1, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"SCORE test_accuracy {accuracy:.4f}")
