"""Trains a regression of the minibar bill per hotel stay, many stays with no bill at all (Tweedie deviance)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rs = np.random.RandomState(SEED + 5)


class TweedieDeviance(keras.losses.Loss):
    """Compound Poisson deviance with power 1 < p < 2, up to terms of y alone."""

    def __init__(self, power=1.5, **kw):
        super().__init__(**kw)
        self.p = power

    def call(self, y, mu):
        p = self.p
        a = y * ops.power(mu, 1.0 - p) / (1.0 - p)
        b = ops.power(mu, 2.0 - p) / (2.0 - p)
        return ops.mean(b - a, axis=-1)


def stays(n):
    nights = rs.poisson(2.2, n) + 1
    guests = rs.randint(1, 5, n)
    floor = rs.randint(0, 9, n)
    age = rs.normal(45, 14, n)
    business = rs.rand(n) < 0.4
    heat = rs.normal(19, 7, n)
    late = rs.rand(n)
    room = rs.randint(0, 4, n)
    eta = (
        -0.4
        + 0.22 * nights
        + 0.15 * guests
        - 0.01 * (age - 45)
        + 0.5 * business
        + 0.04 * (heat - 19)
        + 0.7 * late * business
        - 0.4 * (room == 0)
        + 0.3 * (room == 3)
    )
    items = rs.poisson(0.6 * np.exp(np.clip(eta, -4, 2.2)))
    bill = np.array([rs.gamma(2.0, 0.5, k).sum() if k else 0.0 for k in items])
    onehot = np.eye(4)[room]
    num = np.stack([nights, guests, floor, age, heat, late], 1)
    return num.astype("float32"), np.c_[onehot, business].astype("float32"), bill.astype("float32")


num, cat, bill = stays(16000)
num_te, cat_te, bill_te = stays(4000)

scaler = layers.Normalization()
scaler.adapt(num)
a = keras.Input((6,), name="numbers")
b = keras.Input((5,), name="flags")
h = layers.Concatenate()([scaler(a), b])
h = layers.Dense(48, activation="relu")(h)
h = layers.Dense(24, activation="relu")(h)
mu = layers.Dense(1, activation="relu", name="expected_bill")(h)
model = keras.Model([a, b], mu)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=TweedieDeviance(1.5))
gradwatch.watch(model)

model.fit([num, cat], bill[:, None], batch_size=128, epochs=16, verbose=2, validation_split=0.1)

pred = model.predict([num_te, cat_te], verbose=0)[:, 0]
order = np.argsort(pred)
tenths = np.array_split(order, 10)
for k, part in enumerate(tenths):
    print(f"tenth {k}: expected {pred[part].mean():6.2f}  billed {bill_te[part].mean():6.2f}")
err = np.abs(np.array([pred[p].mean() - bill_te[p].mean() for p in tenths])).mean()
print("SCORE calibration_mae", round(float(err), 4))
