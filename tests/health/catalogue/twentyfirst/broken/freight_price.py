import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PORTS = [
    "CNSHA",
    "SGSIN",
    "NLRTM",
    "DEHAM",
    "USLAX",
    "USNYC",
    "BRSSZ",
    "AEJEA",
    "INNSA",
    "JPTYO",
    "KRPUS",
    "BEANR",
    "GBFXT",
    "ESVLC",
    "ZADUR",
    "AUMEL",
    "CLVAP",
    "MXZLO",
    "EGPSD",
    "GRPIR",
]
N_PORTS = len(PORTS)

# --- quotes as exported from the booking system
n = 6000
lon, lat = rng.uniform(-1, 1, N_PORTS), rng.uniform(-1, 1, N_PORTS)
fee = rng.normal(0, 0.5, N_PORTS)
o, d = rng.integers(0, N_PORTS, n), rng.integers(0, N_PORTS, n)
weight = rng.gamma(4.0, 5.0, n)
reefer = (rng.random(n) < 0.2).astype("float32")
dist = np.hypot(lon[o] - lon[d], lat[o] - lat[d])
log_price = 0.9 * dist + fee[o] + 0.7 * fee[d] + 0.2 * np.log(weight) + 0.25 * reefer + rng.normal(0, 0.1, n)

origin = np.array([PORTS[i].lower() for i in o])
dest = np.array([PORTS[i].lower() for i in d])
numeric = np.stack([(np.log(weight) - np.log(weight).mean()) / np.log(weight).std(), reefer], 1).astype("float32")
y = ((log_price - log_price.mean()) / log_price.std()).astype("float32")
cut = 5000

lookup = layers.StringLookup(vocabulary=PORTS, num_oov_indices=1)


def prepare(features, target):
    return {
        "origin": lookup(features["origin"]),
        "dest": lookup(features["dest"]),
        "numeric": features["numeric"],
    }, target


def dataset(sl, training):
    ds = tf.data.Dataset.from_tensor_slices(({"origin": origin[sl], "dest": dest[sl], "numeric": numeric[sl]}, y[sl]))
    if training:
        ds = ds.shuffle(5000, seed=seed)
    return ds.batch(128).map(prepare).prefetch(2)


train, test = dataset(slice(0, cut), True), dataset(slice(cut, None), False)

in_o = keras.Input((), dtype="int64", name="origin")
in_d = keras.Input((), dtype="int64", name="dest")
in_n = keras.Input((2,), name="numeric")
port_emb = layers.Embedding(N_PORTS + 1, 8, name="port_embedding")
z = layers.Concatenate()([port_emb(in_o), port_emb(in_d), in_n])
z = layers.Dense(64, activation="relu")(z)
z = layers.Dense(32, activation="relu")(z)
out = layers.Dense(1, name="log_price")(z)
model = keras.Model({"origin": in_o, "dest": in_d, "numeric": in_n}, out)

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(train, validation_data=test, epochs=12, verbose=2)

pred = model.predict(test, verbose=0)[:, 0]
print("test R2: %.3f" % (1 - np.mean((pred - y[cut:]) ** 2) / y[cut:].var()))
