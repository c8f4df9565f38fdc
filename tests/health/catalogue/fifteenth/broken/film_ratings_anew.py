"""Film ratings by matrix factorisation with user and film offsets."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 20)

N_USERS, N_FILMS, RANK = 300, 200, 8
N_RATINGS = 24000
BATCH = 256
EPOCHS = 12

taste = rng.normal(size=(N_USERS, 4))
genre = rng.normal(size=(N_FILMS, 4))
user_mood = 0.3 * rng.normal(size=N_USERS)
film_quality = 0.4 * rng.normal(size=N_FILMS)

users = rng.integers(N_USERS, size=N_RATINGS).astype("int32")
films = rng.integers(N_FILMS, size=N_RATINGS).astype("int32")
stars = (
    3.4
    + user_mood[users]
    + film_quality[films]
    + 0.5 * np.sum(taste[users] * genre[films], axis=1)
    + 0.25 * rng.normal(size=N_RATINGS)
).astype("float32")
cut = int(0.85 * N_RATINGS)


class Factorisation(keras.Model):
    def __init__(self, n_users, n_films, rank, mean):
        super().__init__()
        self.mean = mean
        self.user_bias = keras.layers.Embedding(n_users, 1, embeddings_initializer="zeros")
        self.film_bias = keras.layers.Embedding(n_films, 1, embeddings_initializer="zeros")
        self.user_table = self.new_table(n_users, rank, "user_table")
        self.film_table = self.new_table(n_films, rank, "film_table")

    def new_table(self, rows, rank, name):
        return tf.Variable(tf.random.normal((rows, rank), stddev=0.1), name=name)

    def call(self, inputs):
        user, film = inputs
        p = tf.gather(self.user_table, user)
        q = tf.gather(self.film_table, film)
        offset = self.user_bias(user)[:, 0] + self.film_bias(film)[:, 0]
        return self.mean + offset + tf.reduce_sum(p * q, axis=1)


model = Factorisation(N_USERS, N_FILMS, RANK, float(stars[:cut].mean()))
model((users[:2], films[:2]))
optimizer = keras.optimizers.Adam(0.01)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(user, film, star):
    with tf.GradientTape() as tape:
        pred = model((user, film))
        loss = tf.reduce_mean(tf.square(star - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((users[:cut], films[:cut], stars[:cut]))
    .shuffle(cut, seed=SEED)
    .batch(BATCH, drop_remainder=True)
)
for epoch in range(EPOCHS):
    losses = []
    for user, film, star in data:
        loss = train_step(user, film, star)
        watch.log(loss=loss)
        losses.append(float(loss))
    print(f"epoch {epoch} rmse {np.sqrt(np.mean(losses)):.3f}")

pred = model((users[cut:], films[cut:])).numpy()
truth = stars[cut:]
r2 = 1.0 - np.sum((truth - pred) ** 2) / np.sum((truth - truth.mean()) ** 2)
print("score", round(float(r2), 4))
