import os
from collections import namedtuple

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

Ratings = namedtuple("Ratings", "user item stars")
N_USERS, N_ITEMS, DIM = 120, 80, 8


def make_ratings(n=20000):
    rng = np.random.default_rng(8)
    u, v = rng.normal(size=(N_USERS, 4)), rng.normal(size=(N_ITEMS, 4))
    bu, bi = 0.4 * rng.normal(size=N_USERS), 0.5 * rng.normal(size=N_ITEMS)
    users, items = rng.integers(0, N_USERS, n), rng.integers(0, N_ITEMS, n)
    raw = 3.0 + bu[users] + bi[items] + 0.5 * (u[users] * v[items])[:, :2].sum(1) + 0.2 * rng.normal(size=n)
    stars = np.clip(np.round(raw), 1, 5).astype("float32")
    cut = int(0.85 * n)
    full = Ratings(users.astype("int32"), items.astype("int32"), stars)
    return Ratings(*(c[:cut] for c in full)), Ratings(*(c[cut:] for c in full))


class RatingModel(keras.Model):
    def __init__(self, dim):
        super().__init__(name="rating_model")
        reg = keras.regularizers.L2(1e-6)
        init = keras.initializers.RandomNormal(stddev=0.3)
        self.user_emb = keras.layers.Embedding(
            N_USERS, dim, embeddings_initializer=init, embeddings_regularizer=reg, name="user_emb"
        )
        self.item_emb = keras.layers.Embedding(
            N_ITEMS, dim, embeddings_initializer=init, embeddings_regularizer=reg, name="item_emb"
        )
        self.mix = keras.layers.Dense(32, activation="relu", name="mix")
        self.out = keras.layers.Dense(1, name="stars")

    def call(self, inputs):
        users, items = inputs
        a, b = self.user_emb(users), self.item_emb(items)
        h = self.mix(tf.concat([a, b, a * b], axis=-1))
        return tf.squeeze(self.out(h), axis=-1)


class Trainer:
    def __init__(self, model, lr=5e-3, batch=128):
        self.model, self.batch = model, batch
        self.opt = keras.optimizers.Adam(lr)
        self.history = []

    @tf.function(jit_compile=False)
    def _step(self, users, items, stars):
        with tf.GradientTape() as tape:
            pred = self.model((users, items), training=True)
            mse = tf.reduce_mean(tf.square(stars - pred))
            loss = mse + tf.add_n(self.model.losses)
        variables = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss, "mse": mse}

    def fit(self, data, epochs, watch):
        ds = (
            tf.data.Dataset.from_tensor_slices(tuple(data))
            .shuffle(len(data.user), seed=SEED)
            .batch(self.batch, drop_remainder=True)
        )
        for epoch in range(epochs):
            for batch in ds:
                out = self._step(*batch)
                watch.log(**out)
            self.history.append(float(out["mse"]))
            print("epoch", epoch, "mse", self.history[-1])


def main():
    train, test = make_ratings()
    model = RatingModel(DIM)
    model((train.user[:2], train.item[:2]))
    watch = gradwatch.watch(model)
    Trainer(model).fit(train, epochs=8, watch=watch)
    pred = model((test.user, test.item)).numpy()
    r2 = 1 - np.mean((pred - test.stars) ** 2) / np.var(test.stars)
    print("SCORE", float(r2))


if __name__ == "__main__":
    main()
