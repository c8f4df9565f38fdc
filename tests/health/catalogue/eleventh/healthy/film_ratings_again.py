"""Film ratings by matrix factorisation: user and film vectors with offsets."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

USERS, FILMS, RANK = 2500, 1500, 12
popularity = 1.0 / np.arange(1, FILMS + 1) ** 0.9
popularity /= popularity.sum()
activity = rng.pareto(1.5, USERS) + 0.2
activity /= activity.sum()

u = rng.choice(USERS, 42000, p=activity)
f = rng.choice(FILMS, 42000, p=popularity)
tu, tf_ = rng.normal(0, 0.5, (USERS, 4)), rng.normal(0, 0.5, (FILMS, 4))
bu, bf = rng.normal(0, 0.4, USERS), rng.normal(0, 0.6, FILMS)
stars = 3.4 + bu[u] + bf[f] + np.sum(tu[u] * tf_[f], 1) + rng.normal(0, 0.4, len(u))
stars = np.clip(stars, 0.5, 5).astype("float32")

user_in = keras.Input((), dtype="int32", name="user")
film_in = keras.Input((), dtype="int32", name="film")
pu = layers.Embedding(USERS, RANK, name="user_vec")(user_in)
pf = layers.Embedding(FILMS, RANK, name="film_vec")(film_in)
ou = layers.Embedding(USERS, 1, embeddings_initializer="zeros", name="user_offset")(user_in)
of = layers.Embedding(FILMS, 1, embeddings_initializer="zeros", name="film_offset")(film_in)
dot = layers.Dot(axes=1)([pu, pf])
rating = layers.Dense(1, name="scale", bias_initializer=keras.initializers.Constant(3.4))(
    layers.Concatenate()([dot, ou, of])
)
model = keras.Model([user_in, film_in], rating)
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")

cut = 38400
model.fit([u[:cut], f[:cut]], stars[:cut], batch_size=512, epochs=3, verbose=2)
pred = model.predict([u[cut:], f[cut:]], batch_size=2048, verbose=0)[:, 0]
print("held-out R2 %.3f" % (1 - np.mean((pred - stars[cut:]) ** 2) / stars[cut:].var()))
