import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VOCAB = 12
MAXLEN = 100
GRAZE, WALK, REST, CALL = 1, 2, 3, 4


def diary():
    events = list(rng.integers(1, VOCAB, rng.integers(6, 16)))
    stressed = int(rng.random() < 0.5)
    events = [e for e in events if e not in (CALL, REST)]
    spots = np.sort(rng.integers(0, len(events) + 1, 2))
    first, second = (CALL, REST) if stressed else (REST, CALL)
    events.insert(spots[0], first)
    events.insert(spots[1] + 1, second)
    return events, stressed


def collect(n):
    logs, labels = zip(*[diary() for _ in range(n)])
    padded = keras.utils.pad_sequences(logs, maxlen=MAXLEN, padding="post", truncating="post")
    return padded.astype("int32"), np.array(labels, "float32")[:, None]


x_train, y_train = collect(3000)
x_test, y_test = collect(600)

model = keras.Sequential(
    [
        keras.Input((MAXLEN,), dtype="int32"),
        keras.layers.Embedding(VOCAB, 16, name="events"),
        keras.layers.LSTM(32, name="diary"),
        keras.layers.Dense(1, activation="sigmoid", name="stressed"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=8,
    verbose=2,
)
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
