import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TOPICS, MAXLEN = 8, 150
common = [f"word{i}" for i in range(150)]
special = [[f"topic{k}x{i}" for i in range(30)] for k in range(TOPICS)]


def make_headlines(n):
    texts, topics = [], rng.integers(0, TOPICS, n)
    for k in topics:
        words = []
        for _ in range(rng.integers(5, 11)):
            source = special[k] if rng.random() < 0.4 else common
            words.append(source[rng.integers(len(source))])
        texts.append(words)
    return texts, topics.astype("int32")


train_text, y_train = make_headlines(3000)
test_text, y_test = make_headlines(1000)
vocabulary = {w: i + 1 for i, w in enumerate(sorted({w for text in train_text for w in text}))}


def encode(texts):
    ids = [[vocabulary.get(w, 0) for w in text] for text in texts]
    return keras.utils.pad_sequences(ids, maxlen=MAXLEN, padding="post")


x_train, x_test = encode(train_text), encode(test_text)

model = keras.Sequential(
    [
        keras.Input((MAXLEN,), dtype="int32"),
        keras.layers.Embedding(len(vocabulary) + 1, 24, mask_zero=True, name="words"),
        keras.layers.SimpleRNN(32, name="reader"),
        keras.layers.Dense(TOPICS, activation="softmax", name="topic"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", accuracy)
