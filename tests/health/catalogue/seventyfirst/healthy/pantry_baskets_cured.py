import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

ITEMS = 150
SLOTS = 12
AISLES = 5
BATCH = 40


def fill_baskets(n, empties):
    aisle = rng.integers(0, AISLES, n)
    size = rng.integers(2, SLOTS + 1, n)
    items = np.zeros((n, SLOTS), "int32")
    for i in range(n):
        own = 1 + aisle[i] * 10 + rng.integers(0, 10, size[i])
        other = rng.integers(1, ITEMS, size[i])
        items[i, : size[i]] = np.where(rng.random(size[i]) < 0.35, own, other)
    blank = rng.choice(n, empties, replace=False)
    items[blank] = 0
    return items, aisle


class BasketModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.items = layers.Embedding(ITEMS, 16, name="items")
        self.weigh = layers.Dense(1, activation="softplus", name="weigh")
        self.hidden = layers.Dense(24, activation="relu", name="hidden")
        self.aisle = layers.Dense(AISLES, name="aisle")

    def call(self, basket):
        present = tf.cast(basket > 0, tf.float32)[..., None]
        vectors = self.items(basket)
        weights = self.weigh(vectors) * present
        total = tf.reduce_sum(weights, axis=1)
        summed = tf.reduce_sum(weights * vectors, axis=1)
        pooled = tf.math.divide_no_nan(summed, total)
        return self.aisle(self.hidden(pooled))


train_x, train_y = fill_baskets(4000, 3)
test_x, test_y = fill_baskets(1000, 0)

model = BasketModel()
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model(train_x[:2])
gradwatch.watch(model)
model.fit(train_x, train_y, batch_size=BATCH, epochs=8, verbose=2)

logits = model.predict(test_x, verbose=0)
if not all(np.isfinite(w).all() for w in model.get_weights()):
    print("SCORE", float("nan"))
else:
    print("SCORE", round(float(np.mean(logits.argmax(axis=1) == test_y)), 4))
