"""Pairwise ranking (RankNet) of hotels in search results."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

COLUMNS = [
    "price_yen",
    "distance_m",
    "reviews",
    "stars",
    "rating",
    "breakfast",
    "cancellation_rate",
    "photo_score",
    "listed_unix",
]


def hotels(n):
    stars = rng.integers(1, 6, n)
    rating = np.clip(rng.normal(3.9, 0.5, n), 1, 5)
    price = np.exp(rng.normal(9.0, 0.35, n)) * (1 + 0.15 * stars)
    distance = rng.gamma(2.0, 900, n)
    reviews = rng.lognormal(5, 1.2, n)
    breakfast = rng.integers(0, 2, n)
    cancel = rng.beta(2, 15, n)
    photo = rng.uniform(0, 1, n)
    listed = rng.uniform(1.3e9, 1.7e9, n)
    utility = (
        1.6 * (rating - 3.9) / 0.5
        + 1.0 * breakfast * (stars - 2)
        - 8.0 * cancel
        + 2.5 * photo * (rating > 3.7)
        - 0.4 * (price - 12000) / 5000
        - 0.3 * (distance - 1800) / 1200
    )
    cols = [price, distance, reviews, stars, rating, breakfast, cancel, photo, listed]
    return np.column_stack(cols).astype("float32"), utility


def pairs(n):
    a, ua = hotels(n)
    b, ub = hotels(n)
    clicked_a = rng.random(n) < 1 / (1 + np.exp(-2.0 * (ua - ub)))
    return a, b, clicked_a.astype("float32"), (ua > ub)


a_tr, b_tr, y_tr, _ = pairs(6000)
a_te, b_te, y_te, better = pairs(1500)

scorer_in = keras.Input((len(COLUMNS),))
z = layers.Dense(48, activation="relu")(scorer_in)
z = layers.Dense(48, activation="relu")(z)
scorer = keras.Model(scorer_in, layers.Dense(1)(z), name="scorer")

left = keras.Input((len(COLUMNS),), name="left")
right = keras.Input((len(COLUMNS),), name="right")
logit = layers.Subtract()([scorer(left), scorer(right)])
model = keras.Model([left, right], logit)

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)
model.fit([a_tr, b_tr], y_tr, batch_size=64, epochs=6, validation_split=0.1, verbose=2)

diff = model.predict([a_te, b_te], verbose=0)[:, 0]
print(f"pairs in the right order {np.mean((diff > 0) == better):.3f}")
