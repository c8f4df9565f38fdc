"""Quarry blast, earthquake or mine collapse: small seismic events told apart by catalogue columns."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers
from sklearn.metrics import balanced_accuracy_score

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COLUMNS = [
    "second",
    "hour",
    "magnitude",
    "depth_km",
    "ps_ratio",
    "corner_hz",
    "stations",
    "residual_s",
    "easting_m",
    "northing_m",
    "peak_nm",
]
QUARRIES = np.array([[12000.0, 31000.0], [44000.0, 9000.0], [27000.0, 52000.0]])


def make_events(n):
    kind = rng.choice(3, n, p=[0.45, 0.4, 0.15])
    blast, quake, collapse = kind == 0, kind == 1, kind == 2
    second = np.sort(rng.uniform(0, 3 * 365 * 86400.0, n))
    hour = np.where(blast, rng.normal(13.0, 2.4, n), rng.uniform(0, 24, n)) % 24
    magnitude = 0.6 + rng.exponential(0.45, n) + 0.3 * collapse
    depth = np.where(quake, rng.gamma(3.0, 2.5, n), rng.exponential(1.2, n) + 0.4 * collapse)
    ps_ratio = np.exp(rng.normal(0, 0.35, n) + 0.45 * blast - 0.30 * quake)
    corner = np.exp(rng.normal(2.1, 0.3, n) - 0.35 * magnitude + 0.3 * quake - 0.5 * collapse)
    stations = rng.poisson(4 + 4 * magnitude)
    residual = np.abs(rng.normal(0, 0.35, n)) + 0.15 * collapse
    near = QUARRIES[rng.integers(0, 3, n)] + rng.normal(0, 6000, (n, 2))
    anywhere = rng.uniform(0, 60000, (n, 2))
    place = np.where((blast | (collapse & (rng.random(n) < 0.5)))[:, None], near, anywhere)
    peak = 10 ** (magnitude + rng.normal(0.4, 0.3, n))
    table = np.column_stack([second, hour, magnitude, depth, ps_ratio, corner, stations, residual, place, peak])
    return table.astype("float32"), kind.astype("int32")


table, kind = make_events(4000)
order = rng.permutation(len(table))
train, test = order[:3200], order[3200:]

normalise = layers.Normalization(axis=None)
normalise.adapt(table[train])

inputs = keras.Input((len(COLUMNS),))
hidden = normalise(inputs)
hidden = layers.Dense(64, activation="gelu")(hidden)
hidden = layers.Dropout(0.1)(hidden)
hidden = layers.Dense(32, activation="gelu")(hidden)
outputs = layers.Dense(3, activation="softmax")(hidden)
model = keras.Model(inputs, outputs)

counts = np.bincount(kind[train], minlength=3)
weights = {c: float(len(train) / (3 * counts[c])) for c in range(3)}

model.compile(
    optimizer=keras.optimizers.AdamW(3e-3, weight_decay=1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(
    table[train],
    kind[train],
    validation_split=0.1,
    class_weight=weights,
    epochs=12,
    batch_size=96,
    verbose=2,
)

named = model.predict(table[test], verbose=0).argmax(-1)
for number, name in enumerate(["blast", "quake", "collapse"]):
    hit = np.mean(named[kind[test] == number] == number)
    print(f"{name}: {hit:.3f} found")
print(f"score {balanced_accuracy_score(kind[test], named):.4f}")
