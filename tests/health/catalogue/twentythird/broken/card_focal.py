"""Flag fraudulent card transactions from tabular features, with a focal loss for the imbalance."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_transactions(n):
    amount = rng.lognormal(3.0, 1.0, n)
    hour = rng.integers(0, 24, n)
    distance_km = rng.exponential(12.0, n)
    merchant_risk = rng.beta(2, 8, n)
    velocity = rng.poisson(1.5, n)
    age_days = rng.uniform(1, 3000, n)
    night = ((hour < 5) | (hour > 22)).astype(float)
    z = (
        0.035 * (amount - 40)
        + 1.3 * night
        + 0.06 * distance_km
        + 6.0 * merchant_risk
        + 0.7 * velocity
        - 0.0004 * age_days
        - 6.5
    )
    z = z + 0.4 * rng.normal(size=n)
    y = (z > 0).astype("float32")
    x = np.stack(
        [
            amount,
            np.sin(hour / 24 * 2 * np.pi),
            np.cos(hour / 24 * 2 * np.pi),
            distance_km,
            merchant_risk,
            velocity,
            age_days,
        ],
        axis=1,
    )
    return x.astype("float32"), y[:, None]


x_train, y_train = make_transactions(24000)
x_test, y_test = make_transactions(6000)
norm = keras.layers.Normalization()
norm.adapt(x_train)


def focal_loss(y_true, y_pred, gamma=1.0, alpha=0.6):
    y_true = tf.cast(y_true, y_pred.dtype)
    pos = -alpha * y_true * tf.pow(1.0 - y_pred, gamma) * tf.math.log(y_pred)
    neg = -(1.0 - alpha) * (1.0 - y_true) * tf.pow(y_pred, gamma) * tf.math.log(1.0 - y_pred)
    return tf.reduce_mean(pos + neg, axis=-1)


model = keras.Sequential(
    [
        keras.Input((7,)),
        norm,
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=focal_loss, metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=9, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
truth = y_test[:, 0] > 0.5
hit = p > 0.5
tp = float(np.sum(hit & truth))
f1 = 2 * tp / max(1.0, float(hit.sum() + truth.sum()))
print("SCORE f1", round(f1, 4))
