"""What is the picnic for?  Twelve items of a basket (of 600 on the shelf) -> one of five occasions."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SHELF, ITEMS, OCCASIONS, DIM = 600, 12, 5, 8

popularity = rng.dirichlet(np.full(SHELF, 0.8), size=OCCASIONS)
common = rng.dirichlet(np.full(SHELF, 2.0))


def baskets(n):
    occasion = rng.integers(0, OCCASIONS, n)
    bought = np.empty((n, ITEMS), dtype="int32")
    for k in range(OCCASIONS):
        rows = np.flatnonzero(occasion == k)
        mixture = 0.5 * popularity[k] + 0.5 * common
        bought[rows] = rng.choice(SHELF, (len(rows), ITEMS), p=mixture / mixture.sum())
    return bought, occasion


@keras.saving.register_keras_serializable(package="picnic")
class ItemTable(keras.layers.Layer):
    """A vector per item; a basket is the weighted sum of the vectors of what is in it."""

    def __init__(self, size, dim, **kwargs):
        super().__init__(**kwargs)
        self.size, self.dim = size, dim

    def build(self, input_shape):
        init = keras.initializers.RandomNormal(stddev=0.3, seed=SEED)
        self.vectors = tf.Variable(init((self.size, self.dim)), trainable=True, name="vectors")
        self.weights_of_items = tf.Variable(tf.ones((self.size,)), trainable=True, name="item_weights")

    def call(self, items):
        vectors = tf.gather(self.vectors, items)
        weight = tf.gather(self.weights_of_items, items)[..., None]
        return tf.reduce_sum(weight * vectors, axis=1)

    def get_config(self):
        return {**super().get_config(), "size": self.size, "dim": self.dim}


def occasion_model():
    items = keras.Input((ITEMS,), dtype="int32")
    basket = ItemTable(SHELF, DIM, name="table")(items)
    h = keras.layers.LayerNormalization()(basket)
    h = keras.layers.Dense(16, activation="relu")(h)
    h = keras.layers.Dropout(0.1)(h)
    return keras.Model(items, keras.layers.Dense(OCCASIONS, activation="softmax")(h))


x_train, y_train = baskets(12000)
x_valid, y_valid = baskets(1000)
x_test, y_test = baskets(1500)

model = occasion_model()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_valid, y_valid), batch_size=64, epochs=8, verbose=2)

probability = model.predict(x_test, verbose=0)
print("SCORE accuracy", round(float(np.mean(probability.argmax(1) == y_test)), 4))
