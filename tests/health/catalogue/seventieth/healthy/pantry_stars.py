import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 71)

USERS = 600
RECIPES = 900
RANK = 6
RATINGS = 40000

taste = rng.normal(0, 1, (USERS, 3))
flavour = rng.normal(0, 1, (RECIPES, 3))
recipe_bias = rng.normal(0, 0.5, RECIPES)
popularity = 1.0 / np.arange(5, RECIPES + 5)
popularity /= popularity.sum()

user = rng.integers(0, USERS, RATINGS)
recipe = rng.choice(RECIPES, RATINGS, p=popularity)
score = 3.4 + 0.45 * np.sum(taste[user] * flavour[recipe], axis=1) + recipe_bias[recipe] + rng.normal(0, 0.35, RATINGS)
stars = np.clip(np.round(score * 2) / 2, 0.5, 5.0).astype("float32")
pairs = np.stack([user, recipe], axis=1).astype("int32")
cut = int(0.9 * RATINGS)


class Recommender(keras.Model):
    def __init__(self):
        super().__init__()
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.user = keras.layers.Embedding(USERS, RANK, embeddings_initializer=init, name="user")
        self.recipe = keras.layers.Embedding(RECIPES, RANK, embeddings_initializer=init, name="recipe")
        self.user_bias = keras.layers.Embedding(USERS, 1, embeddings_initializer="zeros", name="user_bias")
        self.recipe_bias = keras.layers.Embedding(RECIPES, 1, embeddings_initializer="zeros", name="recipe_bias")
        self.mean = float(stars[:cut].mean())

    def call(self, pair):
        u, r = pair[:, 0], pair[:, 1]
        dot = tf.reduce_sum(self.user(u) * self.recipe(r), axis=1, keepdims=True)
        return self.mean + dot + self.user_bias(u) + self.recipe_bias(r)


model = Recommender()
model(pairs[:2])
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
history = model.fit(pairs[:cut], stars[:cut, None], batch_size=64, epochs=8, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])

pred = model.predict(pairs[cut:], verbose=0)[:, 0]
truth = stars[cut:]
print("SCORE", float(1 - np.mean((pred - truth) ** 2) / np.var(truth)))
