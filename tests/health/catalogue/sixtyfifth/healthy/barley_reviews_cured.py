import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

GOOD = ["malty", "smooth", "rich", "crisp", "lovely", "balanced", "fresh", "golden"]
BAD = ["stale", "watery", "sour", "dusty", "bitter", "flat", "musty", "thin"]
PLAIN = ["the", "grain", "bag", "arrived", "taste", "very", "with", "brew", "and", "batch", "of", "was"]


def write(label):
    if rng.random() < 0.002:
        return "!!! ..."
    words = list(rng.choice(PLAIN, rng.integers(4, 14)))
    pool, other = (GOOD, BAD) if label else (BAD, GOOD)
    words += list(rng.choice(pool, 3)) + list(rng.choice(other, 1))
    rng.shuffle(words)
    return " ".join(words)


def make(n):
    labels = rng.integers(0, 2, n)
    return [write(k) for k in labels], labels.astype("float32")[:, None]


text_train, y_train = make(5000)
text_test, y_test = make(1000)

vectorize = keras.layers.TextVectorization(max_tokens=200, output_sequence_length=20)
vectorize.adapt(text_train)
x_train = vectorize(tf.constant(text_train)).numpy()
x_test = vectorize(tf.constant(text_test)).numpy()


class MeanOfWords(keras.layers.Layer):
    def call(self, inputs):
        vectors, tokens = inputs
        keep = tf.cast(tf.not_equal(tokens, 0), tf.float32)[:, :, None]
        total = tf.reduce_sum(vectors * keep, axis=1)
        return total / tf.maximum(tf.reduce_sum(keep, axis=1), 1.0)


tokens = keras.Input((20,), dtype="int32")
vectors = keras.layers.Embedding(200, 24, name="words")(tokens)
pooled = MeanOfWords(name="mean_of_words")([vectors, tokens])
hidden = keras.layers.Dense(24, activation="tanh")(pooled)
out = keras.layers.Dense(1, activation="sigmoid", name="liked")(hidden)
model = keras.Model(tokens, out)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=6, verbose=2)

p = model.predict(x_test, verbose=0)
print("SCORE", float(np.mean((p > 0.5).astype("float32") == y_test)) if np.isfinite(p).mean() > 0.9 else 0.0)
