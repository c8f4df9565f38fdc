"""From a listing (text tokens and figures) predict its price and whether it is sold within a month."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH = 120, 16
appeal = rng.normal(0, 1, VOCAB)


def make_listings(n):
    words = rng.integers(0, VOCAB, (n, LENGTH))
    area = rng.gamma(9, 8, n)
    floor = rng.integers(0, 8, n)
    age = rng.uniform(0, 80, n)
    centre = rng.exponential(4, n)
    price = 900 * area + 6000 * floor - 400 * age - 5000 * centre + 90000
    price = price + rng.normal(0, 8000, n)
    heat = appeal[words].sum(axis=1) / np.sqrt(LENGTH) + 0.8 * np.sin(age / 12) - 0.1 * (centre - 4)
    sold = (heat + rng.normal(0, 0.25, n) > 0).astype("float32")
    figures = np.stack([area / 80, floor / 8, age / 80, centre / 4], axis=1)
    x = {"words": words.astype("int32"), "figures": figures.astype("float32")}
    return x, price.astype("float32"), sold


x_train, price_train, sold_train = make_listings(6000)
x_test, price_test, sold_test = make_listings(1500)
price_train, price_test = price_train / 1000, price_test / 1000

words = keras.Input((LENGTH,), dtype="int32", name="words")
figures = keras.Input((4,), name="figures")
w = layers.GlobalAveragePooling1D()(layers.Embedding(VOCAB, 16)(words))
h = layers.Concatenate()([w, figures])
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(64, activation="relu")(h)
price = layers.Dense(1, name="price")(h)
sold = layers.Dense(1, activation="sigmoid", name="sold")(h)
model = keras.Model({"words": words, "figures": figures}, {"price": price, "sold": sold})

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"price": "mse", "sold": "binary_crossentropy"},
    metrics={"sold": ["accuracy"]},
)
gradwatch.watch(model)
model.fit(
    x_train,
    {"price": price_train, "sold": sold_train},
    batch_size=64,
    epochs=12,
    validation_split=0.1,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
accuracy = np.mean((pred["sold"][:, 0] > 0.5) == (sold_test > 0.5))
r2 = 1 - np.mean((pred["price"][:, 0] - price_test) ** 2) / np.var(price_test)
print("price r2", float(r2))
print("SCORE sold_accuracy", float(accuracy))
