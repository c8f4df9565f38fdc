import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

VIEWERS = 200
FILMS = 80


def ratings(n, seed):
    fixed = np.random.default_rng(11)
    viewer_taste = fixed.normal(size=(VIEWERS, 2))
    film_style = fixed.normal(size=(FILMS, 2))
    film_quality = fixed.normal(size=FILMS)
    rng = np.random.default_rng(seed)
    viewer = rng.integers(0, VIEWERS, n)
    film = rng.integers(0, FILMS, n)
    stars = (
        3.2
        + 0.6 * film_quality[film]
        + 0.5 * (viewer_taste[viewer] * film_style[film]).sum(1)
        + 0.2 * rng.normal(size=n)
    )
    return viewer.astype("int32"), film.astype("int32"), stars.astype("float32")


class Recommender(keras.Model):
    def __init__(self, dim=8):
        super().__init__()
        self.viewers = layers.Embedding(VIEWERS, dim, name="viewers")
        self.films = layers.Embedding(FILMS, dim, name="films")
        self.film_bias = layers.Embedding(FILMS, 1, name="film_bias")
        self.mean = self.add_weight(shape=(), initializer=keras.initializers.Constant(3.0), name="mean")

    def call(self, pair):
        viewer, film = pair[:, 0], pair[:, 1]
        match = tf.reduce_sum(self.viewers(viewer) * self.films(film), axis=1, keepdims=True)
        return self.mean + self.film_bias(film) + match


viewer, film, stars = ratings(16000, SEED)
v_test, f_test, s_test = ratings(2000, SEED + 9)
pairs = np.stack([viewer, film], axis=1)

pair_ds = tf.data.Dataset.from_tensor_slices(pairs).shuffle(16000, seed=SEED + 1)
star_ds = tf.data.Dataset.from_tensor_slices(stars[:, None]).shuffle(16000, seed=SEED + 2)
train_ds = tf.data.Dataset.zip((pair_ds, star_ds)).batch(128)

model = Recommender()
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
model(pairs[:1])

gradwatch.watch(model)
model.fit(train_ds, epochs=10, verbose=0)

pred = model.predict(np.stack([v_test, f_test], axis=1), verbose=0)[:, 0]
print("SCORE", float(1 - np.mean((pred - s_test) ** 2) / np.var(s_test)))
