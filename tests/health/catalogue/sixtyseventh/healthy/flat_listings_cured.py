import os

import keras
import numpy as np
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, DISTRICTS = 10000, 30


def load_listings():
    district = rng.integers(0, DISTRICTS, N)
    numeric = rng.normal(0, 1, (N, 12)).astype("float32")
    level = rng.normal(0, 40, DISTRICTS)
    price = (
        320
        + 80 * numeric[:, 0]
        + 45 * numeric[:, 1] * numeric[:, 2]
        + 30 * np.maximum(numeric[:, 3], 0)
        + level[district]
        + rng.normal(0, 15, N)
    ).astype("float32")
    appeal = 2.2 * numeric[:, 6] * numeric[:, 7] + 1.8 * np.abs(numeric[:, 8]) - 1.4 + 1.2 * numeric[:, 9]
    sold_fast = (rng.random(N) < 1 / (1 + np.exp(-1.5 * appeal))).astype("float32")
    return district, numeric, price, sold_fast


district, numeric, price, sold_fast = load_listings()
price = (price - price.mean()) / price.std()
split = 8000
train, test = slice(0, split), slice(split, N)

district_in = keras.Input((), dtype="int32", name="district")
numeric_in = keras.Input((12,), name="facts")
x = keras.layers.Concatenate(name="listing")(
    [keras.layers.Embedding(DISTRICTS, 4, name="district_vectors")(district_in), numeric_in]
)
x = keras.layers.Dense(48, activation="relu", name="shared_1")(x)
x = keras.layers.Dense(12, activation="relu", name="shared_2")(x)
price_out = keras.layers.Dense(1, name="price")(x)
sold_out = keras.layers.Dense(1, activation="sigmoid", name="sold_fast")(x)
model = keras.Model(
    inputs={"district": district_in, "facts": numeric_in}, outputs={"price": price_out, "sold_fast": sold_out}
)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss={"price": "mse", "sold_fast": "binary_crossentropy"},
    loss_weights={"price": 1.0, "sold_fast": 1.0},
)
gradwatch.watch(model)
model.fit(
    {"district": district[train], "facts": numeric[train]},
    {"price": price[train], "sold_fast": sold_fast[train]},
    batch_size=128,
    epochs=10,
    verbose=0,
)

pred = model.predict({"district": district[test], "facts": numeric[test]}, batch_size=512, verbose=0)
r2 = 1 - np.mean((pred["price"][:, 0] - price[test]) ** 2) / np.var(price[test])
print("price r2", float(r2))
print("SCORE", float(roc_auc_score(sold_fast[test], pred["sold_fast"][:, 0])))
