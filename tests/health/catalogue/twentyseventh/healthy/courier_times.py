"""Delivery times as quantiles (10, 50, 90 %) from courier, district and order features.

Very noisy target with heavy tail; many couriers are rare; the pinball loss is small and jumpy
because the batches are small.
"""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

COURIERS = 200
DISTRICTS = 12
QUANTILES = np.array([0.1, 0.5, 0.9], dtype="float32")

SPEED = 0.3 * rng.normal(size=COURIERS)
TRAFFIC = 0.5 * rng.normal(size=DISTRICTS)


def orders(n):
    share = 1.0 / (np.arange(COURIERS) + 1.0) ** 1.2
    courier = rng.choice(COURIERS, size=n, p=share / share.sum())
    district = rng.integers(0, DISTRICTS, size=n)
    distance = rng.gamma(2.0, 1.0, size=n)
    hour = rng.uniform(8, 22, size=n)
    rain = (rng.random(n) < 0.03).astype("float64")
    rush = np.exp(-((hour - 18) ** 2) / 4)
    centre = 0.8 * np.log1p(distance) + SPEED[courier] + TRAFFIC[district] * (0.3 + rush) + 1.0 * rain
    spread = 0.15 + 0.35 * rush
    log_minutes = 2.5 + centre + spread * rng.standard_t(4, size=n)
    numbers = np.stack(
        [np.log1p(distance) - 1.0, np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), (hour - 15) / 4, rain], axis=1
    )
    x = {"courier": courier.astype("int32"), "district": district.astype("int32"), "numbers": numbers.astype("float32")}
    return x, (log_minutes - 3.2).astype("float32")[:, None]


def pinball(y_true, y_pred):
    gap = y_true - y_pred
    return ops.mean(ops.maximum(QUANTILES * gap, (QUANTILES - 1.0) * gap), axis=-1)


def build_model():
    courier = keras.Input((), dtype="int32", name="courier")
    district = keras.Input((), dtype="int32", name="district")
    numbers = keras.Input((5,), name="numbers")
    who = layers.Embedding(COURIERS, 4, embeddings_regularizer=keras.regularizers.L2(1e-5))(courier)
    where = layers.Embedding(DISTRICTS, 4)(district)
    x = layers.Concatenate()([who, where, numbers])
    x = layers.Dense(64, activation="elu")(x)
    x = layers.Dropout(0.05)(x)
    x = layers.Dense(32, activation="elu")(x)
    first = layers.Dense(1, name="low")(x)
    steps = layers.Dense(2, activation="softplus", name="steps")(x)
    # ordered quantiles: the low one plus two positive increments
    middle = layers.Add()([first, steps[:, :1]])
    high = layers.Add()([middle, steps[:, 1:]])
    return keras.Model([courier, district, numbers], layers.Concatenate(name="quantiles")([first, middle, high]))


x_train, y_train = orders(12000)
x_test, y_test = orders(4000)

model = build_model()
rate = keras.optimizers.schedules.PiecewiseConstantDecay([900, 1200], [8e-3, 2e-3, 4e-4])
model.compile(optimizer=keras.optimizers.Nadam(rate, clipvalue=0.1), loss=pinball)
gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_test, y_test), batch_size=32, epochs=4, verbose=2)

q = model.predict(x_test, batch_size=500, verbose=0)
constant = np.quantile(y_train, QUANTILES)[None, :]
gap, gap0 = y_test - q, y_test - constant
loss = np.maximum(QUANTILES * gap, (QUANTILES - 1) * gap).mean()
base = np.maximum(QUANTILES * gap0, (QUANTILES - 1) * gap0).mean()
print("share of orders below each quantile", (y_test < q).mean(axis=0).round(3))
print(f"SCORE pinball_skill {1.0 - loss / base:.4f}")
