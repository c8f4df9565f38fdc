"""Trains a text model that assigns the classification sections (A to H) to a patent abstract."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SECTIONS = list("ABCDEFGH")
VOCAB, LENGTH, N = 800, 40, 8000

topic_words = [rng.choice(VOCAB - 1, 40, replace=False) + 1 for _ in SECTIONS]
common_words = np.arange(1, VOCAB)


def abstract():
    """A patent belongs to one to four sections; its words come from all of them."""
    k = rng.choice([1, 2, 3, 4], p=[0.25, 0.35, 0.25, 0.15])
    chosen = rng.choice(len(SECTIONS), k, replace=False)
    words = rng.choice(common_words, LENGTH)
    own = rng.random(LENGTH) < 0.55
    source = rng.choice(chosen, LENGTH)
    for i in np.flatnonzero(own):
        words[i] = rng.choice(topic_words[source[i]])
    target = np.zeros(len(SECTIONS), "float32")
    target[chosen] = 1.0
    return words, target


pairs = [abstract() for _ in range(N)]
tokens = np.stack([p[0] for p in pairs]).astype("int32")
targets = np.stack([p[1] for p in pairs])
split = int(0.8 * N)
x_train, y_train = tokens[:split], targets[:split]
x_test, y_test = tokens[split:], targets[split:]

model = keras.Sequential(
    [
        keras.Input((LENGTH,), dtype="int32"),
        layers.Embedding(VOCAB, 48),
        layers.GlobalAveragePooling1D(),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(len(SECTIONS), activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="categorical_crossentropy")

gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=14,
    validation_data=(x_test, y_test),
    verbose=2,
)

chosen = model.predict(x_test, verbose=0) > 0.5
truth = y_test > 0.5
tp = np.sum(chosen & truth)
precision = tp / max(chosen.sum(), 1)
recall = tp / truth.sum()
print(f"precision {precision:.3f} recall {recall:.3f}")
print("SCORE micro_f1", float(2 * precision * recall / max(precision + recall, 1e-9)))
