"""Topic of short support tickets, using word vectors that were trained elsewhere and are kept fixed."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WORDS, TOPICS, DIM = 3000, 6, 40
words = np.array(["w%04d" % i for i in range(WORDS)])
topic_of = rng.integers(0, TOPICS + 4, WORDS)
centres = rng.normal(0, 1.0, (TOPICS + 4, DIM))
vectors = {w: (centres[topic_of[i]] + rng.normal(0, 1.0, DIM)) for i, w in enumerate(words)}
freq = 1 / (np.arange(WORDS) + 50.0)


def tickets(n):
    y = rng.integers(0, TOPICS, n)
    texts = []
    for k in y:
        p = freq * np.where(topic_of == k, 5.0, 1.0)
        texts.append(" ".join(rng.choice(words, rng.integers(10, 20), p=p / p.sum())))
    return np.array(texts), y


x_train, y_train = tickets(700)
x_test, y_test = tickets(1000)

vectorize = layers.TextVectorization(output_mode="int", output_sequence_length=20)
vectorize.adapt(np.concatenate([x_train, words]))
vocab = vectorize.get_vocabulary()
matrix = np.zeros((len(vocab), DIM), "float32")
for i, w in enumerate(vocab[2:]):
    matrix[i] = vectors[w]

embedding = layers.Embedding(len(vocab), DIM, mask_zero=True, trainable=False)
model = keras.Sequential(
    [
        keras.Input((20,), dtype="int64"),
        embedding,
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(TOPICS),
    ]
)
embedding.set_weights([matrix])
model.compile(
    keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(vectorize(x_train), y_train, batch_size=32, epochs=30, verbose=2)
print("SCORE accuracy %.4f" % (model.predict(vectorize(x_test), verbose=0).argmax(-1) == y_test).mean())
