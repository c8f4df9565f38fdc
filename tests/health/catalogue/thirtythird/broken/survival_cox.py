"""Neural Cox regression for the time until failure of pumps, with censored observations."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


D = 12
beta = rng.normal(size=D) * 0.5


def make(n):
    x = rng.normal(size=(n, D))
    log_risk = x @ beta + 0.8 * x[:, 0] * x[:, 1] - 0.5 * np.abs(x[:, 2])
    t = rng.exponential(1.0, n) * np.exp(-log_risk)
    c = rng.exponential(2.5, n)
    time, event = np.minimum(t, c), t <= c
    return x.astype("float32"), np.stack([time, event], 1).astype("float32")


x_train, y_train = make(5000)
x_test, y_test = make(800)


def cox_loss(y_true, y_pred):
    """Negative log partial likelihood of a batch; the risk sets are formed within the batch."""
    time, event = y_true[:, 0], y_true[:, 1]
    order = tf.argsort(time)
    risk = tf.gather(y_pred[:, 0], order)
    event = tf.gather(event, order)
    log_risk_set = tf.math.cumulative_logsumexp(risk)
    return -tf.reduce_sum((risk - log_risk_set) * event) / (tf.reduce_sum(event) + 1e-6)


model = keras.Sequential(
    [
        keras.Input((D,)),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.1),
        layers.Dense(24, activation="relu"),
        layers.Dense(1, use_bias=False),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=cox_loss)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

r = model.predict(x_test, verbose=0)[:, 0]
t, e = y_test[:, 0], y_test[:, 1] > 0
comparable = (t[:, None] < t[None]) & e[:, None]
right = (r[:, None] > r[None]) + 0.5 * (r[:, None] == r[None])
print("SCORE concordance", round(float(right[comparable].mean()), 4))
