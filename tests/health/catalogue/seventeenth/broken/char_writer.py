"""Character model for an invented language, used later for typing suggestions."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)

CONS, VOWELS = "bdfgklmnprstvz", "aeiou"
words = [
    "".join(rng.choice(list(CONS)) + rng.choice(list(VOWELS)) for _ in range(rng.integers(1, 4))) for _ in range(90)
]
follow = np.stack([rng.dirichlet(np.full(90, 0.05)) for _ in range(90)])


def write(n_words):
    out, w = [], 0
    for _ in range(n_words):
        w = rng.choice(90, p=follow[w])
        out.append(words[w])
        if rng.random() < 0.12:
            out[-1] += "."
    return " ".join(out)


alphabet = sorted(set(CONS + VOWELS + " ."))
index = {c: i for i, c in enumerate(alphabet)}
LEN = 40


def windows(text, stride):
    ids = np.array([index[c] for c in text], "int32")
    starts = np.arange(0, len(ids) - LEN - 1, stride)
    return np.stack([ids[s : s + LEN + 1] for s in starts])


train = windows(write(9000), 4)
test = windows(write(2000), 41)


def to_pairs(w):
    return w[1:], w[1:]


dataset = (
    tf.data.Dataset.from_tensor_slices(train)
    .map(to_pairs)
    .shuffle(20000, seed=0)
    .batch(64, drop_remainder=True)
    .prefetch(2)
)

model = tf.keras.Sequential(
    [
        layers.Input((None,), dtype="int32"),
        layers.Embedding(len(alphabet), 32),
        layers.GRU(96, return_sequences=True),
        layers.Dense(len(alphabet)),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.RMSprop(2e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
gradwatch.watch(model)
h = model.fit(dataset, epochs=4, verbose=2)

logits = model.predict(test[:, :-1], batch_size=128, verbose=0)
acc = (logits.argmax(-1) == test[:, 1:]).mean()
print(f"loss {h.history['loss'][-1]:.4f}  held-out accuracy of the suggested character {acc:.4f}")
