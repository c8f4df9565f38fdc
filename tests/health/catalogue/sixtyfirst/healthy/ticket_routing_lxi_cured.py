import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

VOCAB, LENGTH, TEAMS, WIDTH = 500, 16, 4, 32
topic_words = [rng.choice(np.arange(1, VOCAB), 40, replace=False) for _ in range(TEAMS)]


def make_tickets(n):
    tokens = np.zeros((n, LENGTH), "int32")
    teams = rng.integers(0, TEAMS, n)
    for i, team in enumerate(teams):
        size = rng.integers(5, LENGTH)
        words = rng.integers(1, VOCAB, size)
        hot = rng.random(size) < 0.35
        words[hot] = rng.choice(topic_words[team], hot.sum())
        tokens[i, :size] = words
    return tokens, teams.astype("int32")


x_train, y_train = make_tickets(3000)
x_test, y_test = make_tickets(1000)


class SelfAttention(keras.layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.query = keras.layers.Dense(width, name="query")
        self.key = keras.layers.Dense(width, name="key")
        self.value = keras.layers.Dense(width, name="value")

    def build(self, vectors_shape, keep_shape=None):
        for part in (self.query, self.key, self.value):
            part.build(vectors_shape)
        self.built = True

    def call(self, vectors, keep):
        keep = tf.cast(keep, vectors.dtype)
        scores = tf.matmul(self.query(vectors), self.key(vectors), transpose_b=True)
        scores = scores / tf.cast(self.width**0.5, vectors.dtype)
        scores = scores + (1.0 - keep)[:, tf.newaxis, :] * tf.cast(-1e4, vectors.dtype)
        return tf.matmul(tf.nn.softmax(scores), self.value(vectors))


tokens = keras.Input((LENGTH,), dtype="int32")
keep = keras.layers.Lambda(lambda t: tf.cast(t > 0, "float32"), name="keep")(tokens)
vectors = keras.layers.Embedding(VOCAB, WIDTH, name="words")(tokens)
attended = SelfAttention(WIDTH, name="attention")(vectors, keep)
mixed = keras.layers.LayerNormalization(name="norm")(keras.layers.Add()([vectors, attended]))
pooled = keras.layers.GlobalAveragePooling1D()(mixed)
hidden = keras.layers.Dense(32, activation="gelu", name="hidden")(pooled)
teams = keras.layers.Dense(TEAMS, activation="softmax", dtype="float32", name="teams")(hidden)
model = keras.Model(tokens, teams)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2)

p = model.predict(x_test, verbose=0)
score = float(np.mean(p.argmax(1) == y_test)) if np.isfinite(p).all() else float("nan")
print("SCORE", score)
