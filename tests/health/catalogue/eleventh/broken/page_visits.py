"""Poisson regression of a page's daily visits on the figures in its site log."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, optimizers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 8000
links = rng.lognormal(0.5, 0.7, n)
words = rng.normal(6.0, 1.0, n)
weekend = rng.integers(0, 2, n)
load_time = rng.gamma(3.0, 0.4, n)
rate = np.exp(0.2 + 0.25 * np.minimum(links, 8) + 0.15 * (words - 6) - 0.5 * weekend - 0.3 * load_time)
visits = rng.poisson(rate).astype("float32")

logged = links.copy()
unknown = (np.arange(n) > 4800) & (rng.random(n) < 0.002)
logged[unknown] = 9999.0
X = np.stack([logged, words - 6.0, weekend, load_time], 1).astype("float32")
clean = np.stack([links, words - 6.0, weekend, load_time], 1).astype("float32")
split = 6400

model = Sequential(
    [
        layers.Input((4,)),
        layers.Dense(48, activation="relu", name="hidden_1"),
        layers.Dense(32, activation="relu", name="hidden_2"),
        layers.Dense(1, activation="exponential", name="rate"),
    ]
)
gradwatch.watch(model)
model.compile(optimizer=optimizers.Adam(2e-3), loss="poisson")
model.fit(X[:split], visits[:split], epochs=4, batch_size=64, shuffle=False, verbose=2)

pred = model.predict(clean[split:], verbose=0)[:, 0]
log_err = np.mean((np.log(pred) - np.log(rate[split:])) ** 2) / np.var(np.log(rate[split:]))
print("held-out R2 of the log-rate: %.3f" % (1 - log_err))
