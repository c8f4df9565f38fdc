"""Adapt a small character model to a dialect with low-rank updates."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ALPHABET = " abcdefghijklmnopqrstuvwxyz."
CONTEXT = 10
ONSET = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "st", "tr", "sh"]
VOWEL = ["a", "e", "i", "o", "u", "ai", "ou"]
CODA = ["", "", "n", "r", "s", "l"]
STEMS = ["".join(rng.choice(p) for p in (ONSET, VOWEL, CODA, ONSET, VOWEL)) for _ in range(60)]
RANK = 1.0 / np.arange(1, len(STEMS) + 1) ** 0.8
RANK /= RANK.sum()


def speak(words, dialect):
    out = []
    for w in rng.choice(STEMS, words, p=RANK):
        if dialect:
            w = w.replace("ai", "e").replace("ou", "o").replace("sh", "sk").replace("t", "d")
            w += "a" if w[-1] in "eiou" else "n"
        elif rng.uniform() < 0.3:
            w += "s"
        out.append(w + ("." if rng.uniform() < 0.12 else ""))
    return " ".join(out)


def windows(text):
    ids = np.array([ALPHABET.index(c) for c in text], "int32")
    x = np.lib.stride_tricks.sliding_window_view(ids, CONTEXT + 1)
    return x[:, :-1], x[:, -1]


standard = windows(speak(2600, False))
dialect = windows(speak(2600, True))
held = windows(speak(400, True))

inp = keras.Input((CONTEXT,), dtype="int32")
h = layers.Embedding(len(ALPHABET), 16, name="chars")(inp)
h = layers.Flatten()(h)
h = layers.Dense(128, activation="gelu", name="hid1")(h)
h = layers.LayerNormalization(name="norm")(h)
h = layers.Dense(128, activation="gelu", name="hid2")(h)
lm = keras.Model(inp, layers.Dense(len(ALPHABET), name="vocab")(h))
crit = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

lm.compile(keras.optimizers.Adam(3e-3), loss=crit, metrics=["accuracy"])
lm.fit(*standard, batch_size=128, epochs=3, verbose=2)
print("dialect before", lm.evaluate(*held, verbose=0))

for name in ("hid1", "hid2", "vocab"):
    layer = lm.get_layer(name)
    layer.enable_lora(8)
lm.get_layer("chars").trainable = False
lm.get_layer("norm").trainable = False
lm.compile(keras.optimizers.Adafactor(0.02), loss=crit, metrics=["accuracy"])
print("trainable", sum(int(np.prod(v.shape)) for v in lm.trainable_variables), "of", lm.count_params())

gradwatch.watch(lm)
for it in range(350):
    pick = rng.integers(0, len(dialect[0]), 96)
    loss, acc = lm.train_on_batch(dialect[0][pick], dialect[1][pick])
    if it % 50 == 0:
        print(it, "mean loss", round(float(loss), 4), "mean accuracy", round(float(acc), 4))
        lm.reset_metrics()
print("dialect after", lm.evaluate(*held, verbose=0))
