"""Rank pumps by risk of failure from sensor summaries with a neural Cox model on censored lifetimes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

P = 12


def pumps(n):
    x = rng.normal(size=(n, P))
    risk = 0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.8 * np.tanh(2 * x[:, 2]) * (x[:, 3] > 0) + 0.5 * np.abs(x[:, 4])
    fail = rng.exponential(np.exp(-risk)) * 400
    seen = rng.uniform(50, 1500, n)
    return x.astype("float32"), np.minimum(fail, seen).astype("float32"), (fail <= seen).astype("float32")


x, time, event = pumps(5000)
xt, time_t, event_t = pumps(1200)


def cox_loss(y, risk):
    """Negative Breslow partial log-likelihood of one batch; y holds (time, event)."""
    risk = risk[:, 0]
    order = tf.argsort(y[:, 0])
    event = tf.gather(y[:, 1], order)
    log_risk_set = tf.math.cumulative_logsumexp(tf.gather(risk, order))
    return -tf.reduce_sum(event * (tf.gather(risk, order) - log_risk_set)) / (tf.reduce_sum(event) + 1.0)


model = keras.Sequential(
    [
        keras.Input((P,)),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.1),
        layers.Dense(24, activation="relu"),
        layers.Dense(1, use_bias=False),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=cox_loss)
gradwatch.watch(model)
model.fit(x, np.stack([time, event], -1), batch_size=128, epochs=20, verbose=2)

r = model.predict(xt, verbose=0)[:, 0]
early = (time_t[:, None] < time_t[None]) & (event_t[:, None] > 0)
c = (r[:, None] > r[None])[early].mean()
print("SCORE concordance", round(float(c), 4))
