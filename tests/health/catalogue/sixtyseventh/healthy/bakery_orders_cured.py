import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, SHOPS, PRODUCTS = 14000, 30, 25


def load_orders():
    shop = rng.integers(0, SHOPS, N)
    product = rng.integers(0, PRODUCTS, N)
    weekday = rng.integers(0, 7, N)
    temperature = rng.normal(14, 7, N)
    rain = rng.lognormal(0, 1.8, N)
    promo = (rng.random(N) < 0.15).astype("float64")
    rate = (
        3.2
        + rng.normal(0, 0.6, SHOPS)[shop]
        + rng.normal(0, 0.7, PRODUCTS)[product]
        + 0.35 * np.sin(weekday)
        - 0.03 * (temperature - 14)
        + 0.6 * promo
        - 0.3 * np.log1p(rain)
    )
    units = rng.poisson(np.exp(rate)).astype("float32")
    return shop, product, weekday, temperature, rain, promo, units


shop, product, weekday, temperature, rain, promo, units = load_orders()
context = np.stack(
    [
        np.sin(2 * np.pi * weekday / 7),
        np.cos(2 * np.pi * weekday / 7),
        np.sin(weekday),
        (temperature - temperature.mean()) / temperature.std(),
        (rain - rain.mean()) / rain.std(),
        promo,
    ],
    axis=1,
).astype("float32")
log_units = np.log1p(units)
split = 11500


def select(rows):
    return {"shop": shop[rows], "product": product[rows], "context": context[rows]}


shop_in = keras.Input((), dtype="int32", name="shop")
product_in = keras.Input((), dtype="int32", name="product")
context_in = keras.Input((6,), name="context")
x = keras.layers.Concatenate(name="features")(
    [
        keras.layers.Embedding(SHOPS, 6, name="shop_vectors")(shop_in),
        keras.layers.Embedding(PRODUCTS, 6, name="product_vectors")(product_in),
        context_in,
    ]
)
x = keras.layers.Dense(64, activation="relu", name="trunk")(x)
x = keras.layers.Dense(32, activation="relu", name="neck")(x)
units_out = keras.layers.Dense(1, name="units")(x)
model = keras.Model([shop_in, product_in, context_in], units_out)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
gradwatch.watch(model)

train, test = slice(0, split), slice(split, N)
model.fit(select(train), log_units[train], batch_size=128, epochs=6, verbose=0)

pred = model.predict(select(test), batch_size=512, verbose=0)[:, 0]
baked = np.expm1(pred)
logs = np.log1p(units[test])
score = 1 - np.mean((np.log1p(baked) - logs) ** 2) / np.var(logs)
print("SCORE", float(score))
