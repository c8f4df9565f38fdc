"""Bakery chain: predict tomorrow's sale of a product in a shop from one table of numbers."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

SHOPS, PRODUCTS = 80, 30
COLUMNS = ["shop", "product", "price", "rain", "temperature", "weekend"]


def make_table(n, rng, town):
    shop = rng.integers(0, SHOPS, n)
    product = rng.integers(0, PRODUCTS, n)
    price = rng.uniform(1, 6, n)
    rain = rng.exponential(2, n)
    temp = rng.normal(14, 7, n)
    weekend = (rng.random(n) < 2 / 7).astype(float)
    sold = (
        town["size"][shop]
        + town["taste"][product]
        + np.sum(town["shop_kind"][shop] * town["product_kind"][product], 1)
        - 0.25 * price
        - 0.1 * rain
        + 0.02 * temp
        + 0.4 * weekend
        + rng.normal(0, 0.2, n)
    )
    table = np.stack([shop, product, price, rain, temp, weekend], 1).astype("float32")
    return table, sold.astype("float32")


rng = np.random.default_rng(SEED + 21)
town = {
    "size": rng.normal(0, 1.0, SHOPS),
    "taste": rng.normal(0, 0.8, PRODUCTS),
    "shop_kind": rng.normal(0, 0.6, (SHOPS, 2)),
    "product_kind": rng.normal(0, 0.9, (PRODUCTS, 2)),
}
table, sold = make_table(26000, rng, town)

low, high = table.min(axis=0), table.max(axis=0)
table = (table - low) / (high - low)
cut = 22000


class LookupAndMix(layers.Layer):
    """Turns the two code columns into vectors and joins them with the measured columns."""

    def __init__(self, width=8, **kwargs):
        super().__init__(**kwargs)
        self.shop = layers.Embedding(SHOPS, width)
        self.product = layers.Embedding(PRODUCTS, width)

    def call(self, rows):
        s = self.shop(tf.cast(rows[:, 0], "int32"))
        p = self.product(tf.cast(rows[:, 1], "int32"))
        return tf.concat([s, p, s * p, rows[:, 2:]], axis=1)


rows = keras.Input((len(COLUMNS),), name="rows")
h = LookupAndMix(name="lookup")(rows)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
amount = layers.Dense(1, name="amount")(h)
model = keras.Model(rows, amount)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

pipe = (
    tf.data.Dataset.from_tensor_slices((table[:cut], sold[:cut, None])).shuffle(cut, seed=SEED).batch(128).prefetch(2)
)
slower = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=2)
model.fit(pipe, epochs=7, verbose=2, callbacks=[slower], validation_data=(table[cut:], sold[cut:, None]))

pred = model.predict(table[cut:], verbose=0)[:, 0]
truth = sold[cut:]
print("SCORE r2", float(1 - np.mean((pred - truth) ** 2) / np.var(truth)))
