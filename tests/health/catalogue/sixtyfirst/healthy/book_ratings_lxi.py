import os

import keras
import numpy as np
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

USERS, BOOKS, GENRES = 3000, 400, 8
book_genre = rng.normal(0, 1, (BOOKS, GENRES)).astype("float32")
user_taste = rng.normal(0, 0.5, (USERS, GENRES))
user_mood = rng.normal(0, 0.6, USERS)
popularity = 1.0 / np.arange(1, USERS + 1) ** 0.8
popularity = popularity / popularity.sum()
main_taste = rng.normal(0, 0.6, GENRES)


def make_ratings(n):
    user = rng.choice(USERS, n, p=popularity)
    book = rng.integers(0, BOOKS, n)
    stars = 3.2 + user_mood[user] + (book_genre[book] * (main_taste + user_taste[user])).sum(1)
    stars = stars + rng.normal(0, 0.5, n)
    return user.astype("int32"), book.astype("int32"), stars.astype("float32")[:, None]


u_train, b_train, y_train = make_ratings(20000)
u_test, b_test, y_test = make_ratings(4000)

user = keras.Input((), dtype="int32", name="user")
book = keras.Input((), dtype="int32", name="book")
genre_table = keras.layers.Embedding(BOOKS, GENRES, trainable=False, name="genres")
genres = genre_table(book)
genre_table.set_weights([book_genre])
taste = keras.layers.Embedding(USERS, GENRES, embeddings_initializer="zeros", name="taste")(user)
mood = keras.layers.Embedding(USERS, 1, embeddings_initializer="zeros", name="mood")(user)
match = keras.layers.Dot(axes=-1, name="match")([taste, genres])
shared = keras.layers.Dense(1, name="shared")(genres)
stars = keras.layers.Add(name="stars")([match, mood, shared])
model = keras.Model([user, book], stars)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    {"user": u_train, "book": b_train},
    y_train,
    batch_size=256,
    epochs=5,
    verbose=2,
)
pred = model.predict({"user": u_test, "book": b_test}, verbose=0)
print("SCORE", r2_score(y_test, pred))
