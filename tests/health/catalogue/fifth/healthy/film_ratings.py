import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
USERS, FILMS, DIM = 4000, 6000, 8


def load(n=40000):
    rng = np.random.default_rng(43)
    taste = rng.normal(0, 1, (USERS, 3))
    style = rng.normal(0, 1, (FILMS, 3))
    u = np.minimum((rng.pareto(1.0, n) * 30).astype(int), USERS - 1)
    f = np.minimum((rng.pareto(1.0, n) * 40).astype(int), FILMS - 1)
    r = 3.4 + 0.6 * (taste[u] * style[f]).sum(1) + rng.normal(0, 0.25, n)
    return u.astype("int32"), f.astype("int32"), np.clip(r, 0.5, 6).astype("float32")


class Factorizer(keras.Model):
    def __init__(self, mean):
        super().__init__()
        self.mean = mean
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.user = layers.Embedding(USERS, DIM, embeddings_initializer=init, name="user")
        self.film = layers.Embedding(FILMS, DIM, embeddings_initializer=init, name="film")
        self.user_bias = layers.Embedding(USERS, 1, embeddings_initializer="zeros", name="user_bias")
        self.film_bias = layers.Embedding(FILMS, 1, embeddings_initializer="zeros", name="film_bias")

    def call(self, inputs):
        u, f = inputs
        dot = tf.reduce_sum(self.user(u) * self.film(f), axis=-1)
        return self.mean + dot + self.user_bias(u)[:, 0] + self.film_bias(f)[:, 0]


def main():
    keras.utils.set_random_seed(SEED)
    u, f, r = load()
    model = Factorizer(float(r.mean()))
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    gradwatch.watch(model)
    model.fit((u, f), r, batch_size=256, epochs=5, verbose=2)


if __name__ == "__main__":
    main()
