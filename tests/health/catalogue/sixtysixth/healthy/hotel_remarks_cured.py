import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

VOCAB = 200
MAXLEN = 120


def remarks(n, seed):
    rng = np.random.default_rng(seed)
    texts, stars = [], []
    for _ in range(n):
        length = rng.integers(5, 14)
        words = rng.integers(40, VOCAB, length)
        good = rng.integers(0, 2)
        spots = rng.choice(length, 3, replace=False)
        words[spots] = rng.integers(1, 20, 3) if good else rng.integers(20, 40, 3)
        texts.append(words.tolist())
        stars.append(good)
    return texts, np.array(stars, "float32")


train_texts, y_train = remarks(1600, SEED)
test_texts, y_test = remarks(500, SEED + 31)
x_train = keras.utils.pad_sequences(train_texts, maxlen=MAXLEN, padding="post")
x_test = keras.utils.pad_sequences(test_texts, maxlen=MAXLEN, padding="post")

inputs = keras.Input((MAXLEN,), dtype="int32", name="word_ids")
h = layers.Embedding(VOCAB, 16, mask_zero=True, name="embed")(inputs)
h = layers.LSTM(24, name="reader")(h)
h = layers.Dense(16, activation="relu")(h)
outputs = layers.Dense(1, activation="sigmoid", name="good")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=10, verbose=0)

prob = model.predict(x_test, verbose=0)[:, 0]
print("share called good", float((prob > 0.5).mean()))
print("share really good", float(y_test.mean()))

_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", float(acc))
