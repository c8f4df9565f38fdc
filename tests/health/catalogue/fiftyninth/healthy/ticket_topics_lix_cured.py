import os
import random
from collections import Counter

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

TOPICS = {
    "billing": ["invoice", "charge", "refund", "card", "payment", "twice", "bill", "receipt", "amount", "bank"],
    "network": ["wifi", "router", "connection", "slow", "drop", "vpn", "signal", "cable", "outage", "speed"],
    "account": ["password", "login", "reset", "email", "username", "locked", "profile", "verify", "code", "access"],
    "device": ["screen", "battery", "printer", "broken", "noise", "keyboard", "charger", "crack", "overheat", "fan"],
    "shipping": ["parcel", "late", "courier", "address", "delivery", "tracking", "lost", "box", "return", "depot"],
}
FILLER = [
    "please",
    "help",
    "my",
    "the",
    "is",
    "not",
    "since",
    "yesterday",
    "again",
    "still",
    "i",
    "have",
    "a",
    "problem",
    "with",
    "customer",
    "says",
    "urgent",
    "asap",
    "called",
    "about",
    "needs",
    "today",
    "and",
    "it",
    "was",
    "very",
]
names = list(TOPICS)
gen = random.Random(SEED + 4)


def ticket():
    k = gen.randrange(len(names))
    words = gen.choices(FILLER, k=gen.randint(6, 14)) + gen.choices(TOPICS[names[k]], k=gen.randint(1, 3))
    if gen.random() < 0.4:
        words += gen.choices(TOPICS[gen.choice(names)], k=1)
    gen.shuffle(words)
    return " ".join(words).upper() + gen.choice(["!", ".", "?!", ""]), k


def split(n):
    rows = [ticket() for _ in range(n)]
    return [r[0] for r in rows], np.array([r[1] for r in rows])


texts, labels = split(4000)
test_texts, test_labels = split(800)

counts = Counter(w.strip("!.?").lower() for t in texts for w in t.split())
vocab = [w for w, c in counts.most_common(500) if c > 2]

vectorize = layers.TextVectorization(
    standardize="lower_and_strip_punctuation",
    output_sequence_length=20,
    vocabulary=vocab,
)
train_ds = (
    tf.data.Dataset.from_tensor_slices((texts, labels))
    .shuffle(4000, seed=SEED)
    .batch(32)
    .map(lambda t, y: (vectorize(t), y))
    .prefetch(2)
)

inp = keras.Input((20,), dtype="int32")
x = layers.Embedding(len(vocab) + 2, 24, mask_zero=True, name="words")(inp)
x = layers.Bidirectional(layers.LSTM(16), name="reader")(x)
x = layers.Dropout(0.2)(x)
out = layers.Dense(len(names), activation="softmax", name="topic")(x)
model = keras.Model(inp, out)
model.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
watch = gradwatch.watch(model)
model.fit(train_ds, epochs=4, verbose=2)

pred = model.predict(vectorize(tf.constant(test_texts)), verbose=0).argmax(-1)
print("SCORE", float((pred == test_labels).mean()))
