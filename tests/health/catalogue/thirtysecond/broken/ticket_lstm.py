"""Sorts short support tickets into four departments with an LSTM over the words."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DEPARTMENTS = ["billing", "shipping", "account", "technical"]
TOPIC = {
    "billing": ["invoice", "charge", "refund", "card", "payment", "price", "tax", "receipt", "coupon", "fee"],
    "shipping": ["parcel", "delivery", "courier", "tracking", "address", "late", "damaged", "box", "customs", "depot"],
    "account": [
        "login",
        "password",
        "email",
        "profile",
        "username",
        "delete",
        "verify",
        "signup",
        "locked",
        "settings",
    ],
    "technical": ["crash", "error", "bug", "screen", "update", "install", "freeze", "slow", "driver", "version"],
}
COMMON = [
    "i",
    "we",
    "you",
    "my",
    "the",
    "a",
    "an",
    "is",
    "was",
    "not",
    "please",
    "hello",
    "hi",
    "thanks",
    "have",
    "has",
    "can",
    "cannot",
    "why",
    "when",
    "how",
    "it",
    "this",
    "that",
    "order",
    "still",
    "again",
    "help",
    "need",
    "today",
    "yesterday",
    "since",
    "after",
    "before",
    "with",
    "for",
    "on",
    "and",
    "but",
    "or",
    "so",
    "very",
    "app",
    "website",
    "product",
    "customer",
    "support",
    "team",
]


def ticket():
    label = rng.integers(4)
    other = rng.integers(4)
    words = list(rng.choice(COMMON, rng.integers(4, 14)))
    for _ in range(rng.integers(1, 4)):
        words.insert(rng.integers(len(words) + 1), rng.choice(TOPIC[DEPARTMENTS[label]]))
    if rng.random() < 0.15:
        words.insert(rng.integers(len(words) + 1), rng.choice(TOPIC[DEPARTMENTS[other]]))
    return words, label


raw = [ticket() for _ in range(4000)]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for words, _ in raw for w in words}))}
MAXLEN = 100

sequences = [[vocab[w] for w in words] for words, _ in raw]
x = keras.utils.pad_sequences(sequences, maxlen=MAXLEN, padding="post")
y = np.array([label for _, label in raw])
x_train, y_train, x_test, y_test = x[:3200], y[:3200], x[3200:], y[3200:]

model = keras.Sequential(
    [
        keras.Input((MAXLEN,)),
        layers.Embedding(len(vocab) + 1, 32),
        layers.LSTM(32),
        layers.Dense(16, activation="relu"),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))
