import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N = 12000
N_DEPOTS, N_SERVICES = 60, 8


def load_shipments():
    depot = rng.integers(0, N_DEPOTS, N)
    service = rng.integers(0, N_SERVICES, N)
    weight = rng.gamma(2.0, 3.0, N)
    distance = rng.gamma(3.0, 80.0, N)
    pieces = rng.integers(1, 9, N)
    attempts = rng.poisson(9.0, N)
    delivered = rng.binomial(attempts, rng.beta(8, 2, N))
    depot_cost = rng.normal(0, 2.0, N_DEPOTS)
    service_cost = rng.normal(0, 3.0, N_SERVICES)
    price = (
        4
        + 0.35 * weight
        + 0.02 * distance
        + 0.4 * pieces
        + 0.002 * weight * distance / pieces
        + depot_cost[depot]
        + service_cost[service]
        - 2.0 * delivered / np.maximum(attempts, 1)
        + rng.normal(0, 0.7, N)
    )
    return depot, service, weight, distance, pieces, attempts, delivered, price


def make_features(weight, distance, pieces, attempts, delivered):
    with np.errstate(all="ignore"):
        columns = {
            "weight": np.log1p(weight),
            "distance": np.log1p(distance),
            "pieces": pieces.astype("float64"),
            "weight_per_piece": weight / pieces,
            "success_rate": delivered / attempts,
        }
    scaled = []
    for values in columns.values():
        scaled.append((values - np.nanmean(values)) / np.nanstd(values))
    return np.stack(scaled, axis=1).astype("float32")


depot, service, weight, distance, pieces, attempts, delivered, price = load_shipments()
numeric = make_features(weight, distance, pieces, attempts, delivered)
target = ((price - price.mean()) / price.std()).astype("float32")
split = int(0.8 * N)


def inputs_for(rows):
    return {"depot": depot[rows], "service": service[rows], "numeric": numeric[rows]}


depot_in = keras.Input((), dtype="int32", name="depot")
service_in = keras.Input((), dtype="int32", name="service")
numeric_in = keras.Input((numeric.shape[1],), name="numeric")
x = keras.layers.Concatenate(name="joined")(
    [
        keras.layers.Embedding(N_DEPOTS, 8, name="depot_vectors")(depot_in),
        keras.layers.Embedding(N_SERVICES, 4, name="service_vectors")(service_in),
        numeric_in,
    ]
)
x = keras.layers.Dense(64, activation="relu", name="hidden_1")(x)
x = keras.layers.Dense(32, activation="relu", name="hidden_2")(x)
price_out = keras.layers.Dense(1, name="price")(x)
model = keras.Model([depot_in, service_in, numeric_in], price_out)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)

train, test = slice(0, split), slice(split, N)
model.fit(inputs_for(train), target[train], batch_size=128, epochs=6, verbose=0)

pred = model.predict(inputs_for(test), batch_size=512, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - target[test]) ** 2) / np.var(target[test])
print("SCORE", float(r2))
