"""Sorts customer support tickets into five departments by their words."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_WORDS, LEN, N_TOPICS, KEEP = 4000, 30, 5, 1000
words = np.array([f"w{i}" for i in rng.permutation(N_WORDS)])
base = 1.0 / (np.arange(N_WORDS) + 10.0) ** 1.05
lean = np.exp(0.7 * rng.normal(size=(N_TOPICS, N_WORDS)))
probs = base * lean
probs /= probs.sum(1, keepdims=True)


def make_tickets(n):
    topic = rng.integers(0, N_TOPICS, n)
    text = np.empty((n, LEN), dtype=object)
    for k in range(N_TOPICS):
        rows = topic == k
        text[rows] = words[rng.choice(N_WORDS, size=(rows.sum(), LEN), p=probs[k])]
    return text, topic


t_train, y_train = make_tickets(6000)
t_test, y_test = make_tickets(1500)

names, counts = np.unique(t_train.ravel().astype(str), return_counts=True)
ranked = names[np.argsort(counts)]
index = {w: i + 1 for i, w in enumerate(ranked[:KEEP])}  # 0 stands for other words


def encode(text):
    return np.array([[index.get(w, 0) for w in row] for row in text], dtype="int32")


x_train, x_test = encode(t_train), encode(t_test)

model = keras.Sequential(
    [
        keras.Input((LEN,), dtype="int32"),
        layers.Embedding(KEEP + 1, 24),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(N_TOPICS, activation="softmax"),
    ]
)

gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=64, epochs=10, validation_split=0.1, verbose=2)

print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))
