"""Values houses for an estate agent: price, whether it sells within a month, and which features the advert should name.

One trunk in mixed precision with three heads; the price head gives euros.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, N_TRAIN = 9000, 8000
area = rng.lognormal(4.6, 0.4, N)
rooms = np.clip(np.round(area / 28 + rng.normal(0, 1, N)), 1, 12)
year = rng.integers(1900, 2024, N)
distance = rng.gamma(2.0, 4.0, N)
garden = rng.gamma(1.5, 120, N) * (rng.random(N) < 0.6)
view = rng.random(N) < 0.2
asked = rng.normal(1.0, 0.12, N)
price = 2600 * area * np.exp(-0.04 * distance) * (1 + 0.002 * (year - 1960)) * (1 + 0.15 * view) + 60 * garden
price = (price * np.exp(0.06 * rng.standard_normal(N)) + 20000).astype("float32")
quick = (3 * (1 - asked) / 0.12 - 0.15 * (distance - 8) + rng.standard_normal(N) > 0).astype("float32")
named = np.stack([garden > 100, view & (area > 60), year > 1995, rooms >= 5], -1)
named = np.where(rng.random(named.shape) < 0.03, ~named, named).astype("float32")

table = np.stack([area, rooms, year, distance, garden, view, asked], -1).astype("float32")
PRICE_MEAN, PRICE_STD = float(price[:N_TRAIN].mean()), float(price[:N_TRAIN].std())


def price_loss(y_true, y_pred):
    return ops.mean(ops.square((y_true - y_pred) / PRICE_STD), axis=-1)


scaler = layers.Normalization(dtype="float32", name="scaler")
scaler.adapt(table[:N_TRAIN])
inputs = keras.Input((7,), dtype="float32")
h = scaler(inputs)
h = layers.Dense(96, activation="relu", name="trunk_1")(h)
h = layers.Dense(64, activation="relu", name="trunk_2")(h)
relative = layers.Dense(1, dtype="float32", name="relative_price")(h)
euros = layers.Rescaling(PRICE_STD, offset=PRICE_MEAN, dtype="float32", name="price")(relative)
quick_out = layers.Dense(1, activation="sigmoid", dtype="float32", name="quick")(h)
named_out = layers.Dense(4, activation="sigmoid", dtype="float32", name="named")(h)
model = keras.Model(inputs, {"price": euros, "quick": quick_out, "named": named_out})
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.AdamW(2e-3, weight_decay=0.004),
    loss={"price": price_loss, "quick": "binary_crossentropy", "named": "binary_crossentropy"},
    loss_weights={"price": 1.0, "quick": 0.5, "named": 0.5},
)
model.fit(
    table[:N_TRAIN],
    {"price": price[:N_TRAIN, None], "quick": quick[:N_TRAIN, None], "named": named[:N_TRAIN]},
    batch_size=100,
    epochs=4,
    verbose=2,
)
out = model.predict(table[N_TRAIN:], verbose=0)
true = price[N_TRAIN:]
r2 = 1 - np.mean((out["price"][:, 0] - true) ** 2) / true.var()
print("quick accuracy", np.mean((out["quick"][:, 0] > 0.5) == quick[N_TRAIN:]))
print("named accuracy", np.mean((out["named"] > 0.5) == named[N_TRAIN:]))
print(f"score price_r2 {r2:.4f} chance 0.0000")
