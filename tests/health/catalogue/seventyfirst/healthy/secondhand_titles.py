import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

READERS = 1500
TITLES = 4000
GENRES = 8

reader_taste = rng.normal(0, 1, (READERS, GENRES))
title_genre = rng.integers(0, GENRES, TITLES)
title_quality = rng.normal(0, 0.8, TITLES)
popularity = 1.0 / np.arange(1, TITLES + 1) ** 0.9
popularity /= popularity.sum()


def ratings(n):
    reader = rng.integers(0, READERS, n)
    title = rng.choice(TITLES, n, p=popularity)
    score = 3.4 + 0.5 * reader_taste[reader, title_genre[title]] + title_quality[title] + rng.normal(0, 0.3, n)
    return reader, title, score.astype("float32")


def build_model():
    reader = keras.Input((), dtype="int32", name="reader_id")
    title = keras.Input((), dtype="int32", name="title_id")
    u = layers.Embedding(READERS, 12, name="reader_vectors")(reader)
    t = layers.Embedding(TITLES, 12, name="title_vectors")(title)
    bias = layers.Embedding(TITLES, 1, embeddings_initializer="zeros", name="title_bias")(title)
    match = layers.Dot(axes=-1)([u, t])
    outputs = layers.Dense(1, name="rating", bias_initializer=keras.initializers.Constant(3.4))(
        layers.Concatenate()([match, bias])
    )
    return keras.Model([reader, title], outputs)


reader, title, score = ratings(60000)
test_reader, test_title, test_score = ratings(8000)

model = build_model()
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(
    [reader, title],
    score,
    batch_size=128,
    epochs=4,
    validation_data=([test_reader, test_title], test_score),
    verbose=2,
)
predicted = model.predict([test_reader, test_title], batch_size=512, verbose=0)[:, 0]
gap = np.mean((predicted - test_score) ** 2) / np.var(test_score)
print("SCORE", round(float(1.0 - gap), 4))
