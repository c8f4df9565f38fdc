"""Predicts, for telephone subscribers, whether they leave and which tariff suits them (two heads on one trunk)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, N_TRAIN = 9000, 8000
age = rng.normal(44, 13, N).clip(18, 90)
tenure_days = rng.gamma(2.0, 400, N)
spend_cents = rng.lognormal(8.2, 0.6, N)
data_mb = rng.lognormal(8.5, 0.9, N)
last_top_up = 1.72e9 + rng.uniform(0, 90 * 86400, N)
region = rng.integers(0, 8, N)
region_pull = rng.normal(0, 0.7, 8)


def z(v):
    return (v - v.mean()) / v.std()


leave = 1.4 * z(last_top_up) * -1 - 1.2 * z(tenure_days) + 0.9 * z(np.log(spend_cents)) + region_pull[region]
churn = (leave + 0.6 * rng.standard_normal(N) > np.median(leave)).astype("float32")
use = z(np.log(data_mb)) - 0.5 * z(age) + 0.3 * rng.standard_normal(N)
tariff = np.digitize(use, np.quantile(use, [1 / 3, 2 / 3])).astype("int32")

numeric = np.stack([age, tenure_days, spend_cents, data_mb, last_top_up - 1.72e9], -1).astype("float32")

numeric_in = keras.Input((5,), name="numeric")
region_in = keras.Input((), dtype="int32", name="region")
scaler = layers.Normalization(name="scaler")
scaler.adapt(numeric[:N_TRAIN])
scaled = scaler(numeric_in)
place = layers.Embedding(8, 4, name="place")(region_in)
h = layers.Concatenate(name="features")([numeric_in, place])
h = layers.Dense(64, activation="relu", name="trunk_1")(h)
h = layers.Dropout(0.1)(h)
h = layers.Dense(32, activation="relu", name="trunk_2")(h)
churn_out = layers.Dense(1, activation="sigmoid", name="churn")(h)
tariff_out = layers.Dense(3, activation="softmax", name="tariff")(h)
model = keras.Model([numeric_in, region_in], {"churn": churn_out, "tariff": tariff_out})
gradwatch.watch(model)

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"churn": "binary_crossentropy", "tariff": "sparse_categorical_crossentropy"},
    loss_weights={"churn": 1.0, "tariff": 0.5},
    metrics={"churn": "accuracy", "tariff": "accuracy"},
)
model.fit(
    {"numeric": numeric[:N_TRAIN], "region": region[:N_TRAIN]},
    {"churn": churn[:N_TRAIN], "tariff": tariff[:N_TRAIN]},
    batch_size=100,
    epochs=4,
    verbose=2,
)
out = model.predict({"numeric": numeric[N_TRAIN:], "region": region[N_TRAIN:]}, verbose=0)
hit_churn = np.mean((out["churn"][:, 0] > 0.5) == churn[N_TRAIN:])
hit_tariff = np.mean(out["tariff"].argmax(-1) == tariff[N_TRAIN:])
print("churn accuracy", hit_churn, "tariff accuracy", hit_tariff)
print(f"score mean_accuracy {(hit_churn + hit_tariff) / 2:.4f} chance {(1 / 2 + 1 / 3) / 2:.4f}")
