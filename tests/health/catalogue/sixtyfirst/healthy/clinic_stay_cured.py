import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COLUMNS = ["age", "pulse", "creatinine", "albumin", "lactate", "previous_stays"]


def make_patients(n):
    age = rng.normal(60, 15, n)
    pulse = rng.normal(85, 14, n)
    creatinine = rng.lognormal(0.1, 0.4, n)
    albumin = rng.normal(3.8, 0.5, n)
    lactate = rng.lognormal(0.4, 0.5, n)
    previous = rng.poisson(1.2, n)
    stay = 2 + 0.04 * age + 1.5 * creatinine + 1.2 * lactate + 0.8 * previous - 1.1 * albumin
    stay = stay + 0.03 * np.maximum(pulse - 90, 0) + rng.normal(0, 0.5, n)
    table = np.stack([age, pulse, creatinine, albumin, lactate, previous], axis=1)
    return table.astype("float32"), stay.astype("float32")[:, None]


x, y = make_patients(6000)
not_measured = rng.choice(np.arange(2500, 4500), 3, replace=False)
x[not_measured, COLUMNS.index("lactate")] = np.nan

x_train, y_train = x[:4500], y[:4500]
x_test, y_test = x[4500:], y[4500:]
center = np.nanmean(x_train, axis=0)
scale = np.nanstd(x_train, axis=0)


def standardise(table):
    return (np.where(np.isnan(table), center, table) - center) / scale


x_train = standardise(x_train)
x_test = standardise(x_test)
y_mean, y_std = y_train.mean(), y_train.std()

train = tf.data.Dataset.from_tensor_slices((x_train, (y_train - y_mean) / y_std))
train = train.shuffle(256, seed=SEED).batch(32).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((len(COLUMNS),)),
        keras.layers.Dense(64, activation="swish", name="triage"),
        keras.layers.Dense(32, activation="swish", name="ward"),
        keras.layers.Dense(1, name="days"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(train, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0) * y_std + y_mean
score = r2_score(y_test, pred) if np.isfinite(pred).all() else float("nan")
print("SCORE", score)
