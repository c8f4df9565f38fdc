"""Score consumer loan applications for default risk from the figures on the application form."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def applications(n):
    income = rng.lognormal(10.7, 0.45, n)
    amount = rng.lognormal(9.6, 0.6, n)
    term = rng.choice([12, 24, 36, 48, 60], n)
    age = rng.uniform(20, 70, n)
    late = rng.poisson(0.8, n)
    utilisation = rng.beta(2, 3, n)
    savings = rng.lognormal(8.5, 1.2, n)
    monthly = amount / term * 1.1
    z = (
        9.0 * (monthly * 12 / income - 0.2)
        + 1.0 * (late - 0.8)
        + 5.0 * (utilisation - 0.4)
        - 0.5 * (np.log(savings) - 8.5)
        - 0.02 * (age - 45)
    )
    y = rng.random(n) < 1 / (1 + np.exp(-1.5 * z))
    x = np.stack([income, amount, term, age, late, utilisation, savings], axis=1)
    return x.astype("float32"), y.astype("float32")


x_train, y_train = applications(6400)
x_val, y_val = applications(1000)
x_test, y_test = applications(2000)

inputs = keras.Input((7,), name="application")
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dense(32, activation="relu")(h)
h = layers.Dense(16, activation="relu")(h)
outputs = layers.Dense(1, activation="sigmoid", name="risk")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.SGD(0.02, momentum=0.9),
    loss=keras.losses.BinaryCrossentropy(),
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=12, batch_size=64, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
order = np.argsort(np.argsort(p + 1e-9 * rng.normal(size=p.size)))
pos = y_test > 0.5
auc = (order[pos].sum() - pos.sum() * (pos.sum() - 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE auc", round(float(auc), 4))
