"""Is a support ticket angry or content? Short texts, an LSTM over word ids."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 70)

NEUTRAL = [f"word{i}" for i in range(260)]
ANGRY = [
    "broken",
    "refund",
    "terrible",
    "waiting",
    "useless",
    "angry",
    "worst",
    "crash",
    "overcharged",
    "ignored",
    "rude",
    "cancel",
]
CONTENT = [
    "thanks",
    "great",
    "solved",
    "helpful",
    "quick",
    "happy",
    "love",
    "perfect",
    "smooth",
    "friendly",
    "works",
    "excellent",
]
MAXLEN = 80
N_TRAIN, N_TEST = 1600, 500
BATCH = 32
EPOCHS = 8


def write_ticket():
    angry = rng.random() < 0.5
    words = list(rng.choice(NEUTRAL, size=rng.integers(4, 14)))
    main, rest = (ANGRY, CONTENT) if angry else (CONTENT, ANGRY)
    strong = rng.integers(2, 5)
    for w in list(rng.choice(main, strong)) + list(rng.choice(rest, rng.integers(0, 2))):
        words.insert(rng.integers(len(words) + 1), w)
    return " ".join(words), int(angry)


def build_index(texts):
    vocabulary = sorted({w for t in texts for w in t.split()})
    return {w: i + 2 for i, w in enumerate(vocabulary)}


def encode(texts, index):
    ids = [[index.get(w, 1) for w in t.split()] for t in texts]
    return keras.utils.pad_sequences(ids, maxlen=MAXLEN, padding="post", truncating="post")


train_texts, y_train = zip(*[write_ticket() for _ in range(N_TRAIN)])
test_texts, y_test = zip(*[write_ticket() for _ in range(N_TEST)])
y_train = np.array(y_train, "float32")
y_test = np.array(y_test, "float32")
index = build_index(train_texts)
x_train, x_test = encode(train_texts, index), encode(test_texts, index)

model = keras.Sequential(
    [
        layers.Input((MAXLEN,), dtype="int32"),
        layers.Embedding(len(index) + 2, 16),
        layers.LSTM(16),
        layers.Dense(8, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

prob = model.predict(x_test, batch_size=100, verbose=0)[:, 0]
print("score", round(float(np.mean((prob > 0.5) == (y_test > 0.5))), 4))
