"""Which building permits will be appealed against: rare cases, hashed categories."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import zlib

import keras
import numpy as np
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BUCKETS = 6000
N = 9000
STREETS = [f"street{i}" for i in range(900)]
ARCHITECTS = [f"office{i}" for i in range(220)]
KINDS = ["extension", "new house", "flats", "garage", "shop", "mast", "change of use", "demolition"]
DISTRICTS = [f"district{i}" for i in range(14)]


def zipf_choice(names, exponent):
    chance = 1 / np.arange(1, len(names) + 1) ** exponent
    return rng.choice(len(names), N, p=chance / chance.sum())


street = zipf_choice(STREETS, 0.6)
architect = zipf_choice(ARCHITECTS, 0.9)
kind = rng.choice(len(KINDS), N, p=[0.3, 0.15, 0.12, 0.14, 0.1, 0.04, 0.1, 0.05])
district = street % len(DISTRICTS)
storeys = rng.poisson(1.2, N) + 1 + 2 * (kind == 2)
month = rng.integers(1, 13, N)

risk = -4.3 + np.array([-0.4, 0.3, 1.5, -1.0, 0.1, 2.6, 0.2, 0.9])[kind]
risk += rng.normal(0, 0.8, len(DISTRICTS))[district] + rng.normal(0, 0.7, len(ARCHITECTS))[architect]
risk += rng.normal(0, 0.5, len(STREETS))[street] + 0.45 * (storeys > 3)
risk += 1.2 * ((kind == 2) & (district < 5))
appealed = (rng.random(N) < 1 / (1 + np.exp(-risk))).astype("float32")


def bucket(*parts):
    return 1 + zlib.crc32("|".join(map(str, parts)).encode()) % (BUCKETS - 1)


def encode(i):
    s, a, k, d = STREETS[street[i]], ARCHITECTS[architect[i]], KINDS[kind[i]], DISTRICTS[district[i]]
    return [
        bucket("street", s),
        bucket("arch", a),
        bucket("kind", k),
        bucket("district", d),
        bucket("kind-district", k, d),
        bucket("storeys", min(storeys[i], 6)),
        bucket("month", month[i]),
    ]


ids = np.array([encode(i) for i in range(N)], "int32")
train, test = np.arange(0, 7000), np.arange(7000, N)
print(f"{appealed[train].mean():.3f} of the permits were appealed against")

inputs = keras.Input((ids.shape[1],), dtype="int32")
wide = layers.Embedding(BUCKETS, 1, embeddings_initializer="zeros", name="wide")(inputs)
wide = layers.Lambda(lambda rows: keras.ops.sum(rows, axis=1))(wide)
deep = layers.Embedding(BUCKETS, 6, name="deep")(inputs)
deep = layers.Dense(24, activation="relu")(layers.Flatten()(deep))
deep = layers.Dense(1, use_bias=False)(deep)
base_rate = np.log(appealed[train].mean() / (1 - appealed[train].mean()))
logit = layers.Dense(
    1,
    kernel_initializer="ones",
    bias_initializer=keras.initializers.Constant(float(base_rate)),
)(layers.Add()([wide, deep]))
model = keras.Model(inputs, layers.Activation("sigmoid")(logit))

model.compile(
    optimizer=keras.optimizers.Adagrad(0.06),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=1.0),
    metrics=[keras.metrics.AUC(name="auc")],
)
watch = gradwatch.watch(model)
model.fit(
    ids[train],
    appealed[train],
    batch_size=128,
    epochs=8,
    class_weight={0: 1.0, 1: 4.0},
    verbose=2,
)

chance = model.predict(ids[test], batch_size=512, verbose=0)[:, 0]
print(f"score {roc_auc_score(appealed[test], chance):.4f}")
