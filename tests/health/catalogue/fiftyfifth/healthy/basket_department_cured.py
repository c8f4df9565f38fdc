"""Which loyalty offer a shop visit should get, from the set of scanned articles."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)


N_ARTICLES, MAX_LINES, N_OFFERS = 400, 14, 6
rng = np.random.default_rng(SEED + 90)
taste = rng.dirichlet(np.full(N_ARTICLES, 0.15), N_OFFERS)


def visits(n):
    offer = rng.integers(0, N_OFFERS, n)
    lines = np.zeros((n, MAX_LINES), "int32")
    for row in range(n):
        scanned = rng.integers(2, MAX_LINES + 1)
        blend = 0.65 * taste[offer[row]] + 0.35 * taste.mean(0)
        articles = rng.choice(N_ARTICLES, size=scanned, p=blend) + 1
        kept = articles[rng.random(scanned) > 0.12]
        lines[row, : len(kept)] = kept
    cancelled = rng.random(n) < 0.0004
    lines[cancelled] = 0
    return lines, offer


lines_train, offer_train = visits(14000)
lines_val, offer_val = visits(1500)
lines_test, offer_test = visits(3000)


class BasketModel(keras.Model):
    def __init__(self, width=48):
        super().__init__()
        self.article = layers.Embedding(N_ARTICLES + 1, width)
        self.phi = layers.Dense(width, activation="relu")
        self.rho = layers.Dense(64, activation="relu")
        self.drop = layers.Dropout(0.2)
        self.offer = layers.Dense(N_OFFERS)

    def call(self, lines, training=False):
        present = tf.cast(lines > 0, tf.float32)[..., None]
        per_line = self.phi(self.article(lines)) * present
        n_lines = tf.reduce_sum(present, axis=1)
        basket = tf.math.divide_no_nan(tf.reduce_sum(per_line, axis=1), n_lines)
        return self.offer(self.drop(self.rho(basket), training=training))


model = BasketModel()
model(lines_train[:2])
model.compile(
    optimizer=keras.optimizers.AdamW(1e-3, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

stream = tf.data.Dataset.from_tensor_slices((lines_train, offer_train)).shuffle(14000, seed=SEED).batch(64).prefetch(2)
model.fit(stream, validation_data=(lines_val, offer_val), epochs=10, verbose=2)

bought_something = lines_test.max(axis=1) > 0
logits = model.predict(lines_test[bought_something], verbose=0)
print("SCORE accuracy", float(np.mean(logits.argmax(1) == offer_test[bought_something])))
