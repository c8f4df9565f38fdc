"""Good or bad? Short hotel reviews as word ids; a negation flips the next mood word."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB = 600
GOOD, BAD, NEGATE = range(2, 42), range(42, 82), range(82, 86)
MAX_LEN = 100


def write_review():
    label = int(rng.integers(0, 2))
    words = list(rng.integers(86, VOCAB, size=rng.integers(5, 26)))
    for _ in range(rng.integers(2, 5)):
        mood = label if rng.random() < 0.9 else 1 - label
        place = int(rng.integers(0, len(words) + 1))
        if rng.random() < 0.3:
            words[place:place] = [int(rng.choice(NEGATE)), int(rng.choice(BAD if mood else GOOD))]
        else:
            words.insert(place, int(rng.choice(GOOD if mood else BAD)))
    return words, label


def make_set(n):
    reviews, labels = zip(*[write_review() for _ in range(n)])
    ids = keras.utils.pad_sequences(reviews, maxlen=MAX_LEN, padding="post", truncating="post")
    return ids.astype("int32"), np.array(labels, "float32")


x_train, y_train = make_set(3000)
x_test, y_test = make_set(800)
print("share of good reviews", y_train.mean(), "longest", (x_train > 0).sum(1).max())

model = keras.Sequential(
    [
        keras.Input((MAX_LEN,), dtype="int32"),
        keras.layers.Embedding(VOCAB, 24),
        keras.layers.SpatialDropout1D(0.2),
        keras.layers.LSTM(32),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=7,
    validation_data=(x_test, y_test),
    verbose=2,
)

prob = model.predict(x_test, batch_size=400, verbose=0)[:, 0]
print("SCORE accuracy %.4f" % ((prob > 0.5) == (y_test > 0.5)).mean())
