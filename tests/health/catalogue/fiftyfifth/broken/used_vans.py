"""Asking price of second-hand vans; this year's listings are priced from last year's."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


rng = np.random.default_rng(SEED + 77)
SYLLABLES = ["ba", "dor", "ka", "lin", "mo", "ner", "pi", "ra", "sto", "tu", "ve", "zan"]
MODELS = sorted({"".join(rng.choice(SYLLABLES, 3)) for _ in range(110)})
TRIMS = ["base", "comfort", "crew", "cargo", "sport", "camper"]
list_price = dict(zip(MODELS, rng.lognormal(10.1, 0.45, len(MODELS))))
trim_factor = dict(zip(TRIMS, [0.9, 1.0, 1.05, 0.97, 1.2, 1.45]))
popularity = rng.dirichlet(np.full(len(MODELS), 1.5))


def listings(n, popularity):
    name = rng.choice(MODELS, n, p=popularity)
    trim = rng.choice(TRIMS, n)
    age = rng.gamma(2.0, 2.2, n)
    km = age * rng.normal(18000, 5000, n).clip(3000)
    price = np.array([list_price[m] * trim_factor[t] for m, t in zip(name, trim)])
    price = price * np.exp(-0.11 * age - 1.6e-6 * km + rng.normal(0, 0.07, n))
    return {"name": name, "trim": trim, "age": age, "km": km, "log_price": np.log(price)}


last_year = listings(12000, popularity)
this_year_share = popularity * (rng.random(len(MODELS)) > 0.15)  # some models left the market
this_year = listings(3000, this_year_share / this_year_share.sum())

names, trims = np.unique(last_year["name"]), np.unique(last_year["trim"])


def to_inputs(table):
    _, name_id = np.unique(table["name"], return_inverse=True)
    trim_id = np.searchsorted(trims, table["trim"])
    numbers = np.stack([table["age"] / 5.0 - 1.0, table["km"] / 80000.0 - 1.0], axis=1)
    return {"name": name_id.astype("int32"), "trim": trim_id.astype("int32"), "numbers": numbers.astype("float32")}


centre = last_year["log_price"].mean()
train = tf.data.Dataset.from_tensor_slices((to_inputs(last_year), (last_year["log_price"] - centre).astype("float32")))
train = train.shuffle(12000, seed=SEED).batch(64).prefetch(2)
check = tf.data.Dataset.from_tensor_slices(
    (to_inputs(this_year), (this_year["log_price"] - centre).astype("float32"))
).batch(512)

name = keras.Input((), dtype="int32", name="name")
trim = keras.Input((), dtype="int32", name="trim")
numbers = keras.Input((2,), name="numbers")
h = layers.Concatenate()(
    [
        layers.Embedding(len(names), 8, name="name_vec")(name),
        layers.Embedding(len(trims), 4, name="trim_vec")(trim),
        numbers,
    ]
)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(1, name="log_price")(h)
model = keras.Model({"name": name, "trim": trim, "numbers": numbers}, outputs)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(train, validation_data=check, epochs=6, verbose=2)

predicted = model.predict(to_inputs(this_year), verbose=0)[:, 0] + centre
truth = this_year["log_price"]
print("SCORE r2_this_year", float(1 - np.mean((predicted - truth) ** 2) / truth.var()))
