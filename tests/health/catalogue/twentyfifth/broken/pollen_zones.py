"""Vegetation zone of a lake-core slice from pollen counts of 24 taxa and the depth of the slice."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TAXA, ZONES = 24, 6
PROFILE = rng.dirichlet(np.full(TAXA, 0.5), size=ZONES)


def count_slices(n):
    zone = rng.integers(0, ZONES, n)
    grains = rng.negative_binomial(1.1, 0.02, n)
    mixture = 0.7 * PROFILE[zone] + 0.3 * PROFILE[rng.integers(0, ZONES, n)]
    counts = np.stack([rng.multinomial(g, p / p.sum()) for g, p in zip(grains, mixture)])
    depth = zone * 0.4 + rng.normal(scale=1.0, size=n)
    return counts, depth, zone


def to_features(counts, depth):
    total = counts.sum(axis=1, keepdims=True)
    share = counts / total
    return np.sqrt(share).astype("float32"), depth.astype("float32")[:, None]


counts, depth, zone = count_slices(9000)
share, level = to_features(counts[:7500], depth[:7500])
kept = counts[7500:].sum(axis=1) > 20
share_test, level_test = to_features(counts[7500:][kept], depth[7500:][kept])
zone_test = zone[7500:][kept]

taxa_in = keras.Input((TAXA,), name="taxa")
depth_in = keras.Input((1,), name="depth")
h = layers.Dense(64, activation="relu")(taxa_in)
h = layers.Dropout(0.2)(h)
d = layers.Dense(8, activation="tanh")(depth_in)
h = layers.Concatenate()([h, d])
h = layers.Dense(48, activation="relu")(h)
out = layers.Dense(ZONES, activation="softmax")(h)
model = keras.Model({"taxa": taxa_in, "depth": depth_in}, out, name="zones")

model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    {"taxa": share, "depth": level},
    zone[:7500],
    batch_size=64,
    epochs=9,
    verbose=2,
)

loss, accuracy = model.evaluate({"taxa": share_test, "depth": level_test}, zone_test, verbose=0)
print("SCORE test_accuracy", round(float(accuracy), 4))
