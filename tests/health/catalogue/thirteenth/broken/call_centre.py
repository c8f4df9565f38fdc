"""Expected number of calls per half hour, for the staffing plan of a call centre.

A Poisson regression on calendar, open tickets and marketing mails sent; the planner uses the
expected count. Judged by the deviance explained on later weeks.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH, EPOCHS = 64, 8


def half_hours(n):
    hour = rng.uniform(7, 20, n)
    weekday = rng.integers(0, 7, n)
    tickets = rng.gamma(2.0, 1.5, n)
    mails = rng.exponential(1.0, n) * (rng.random(n) < 0.2)
    outage = (rng.random(n) < 0.003) * rng.uniform(120, 1400, n)
    log_rate = 1.2 - 0.04 * (hour - 11) ** 2 / 2 - 0.3 * (weekday > 4) + 0.15 * tickets + 0.2 * mails + 0.001 * outage
    calls = rng.poisson(np.exp(log_rate))
    table = np.stack([(hour - 13.5) / 4, (weekday - 3) / 2, tickets, mails, outage], 1)
    return table.astype("float32"), calls.astype("float32")[:, None]


def poisson_nll(calls, rate):
    """Negative log-likelihood up to a constant."""
    return tf.reduce_mean(rate - calls * tf.math.log(rate + 1e-7), axis=-1)


def build():
    state = keras.Input((5,), name="state")
    x = layers.Dense(32, activation="relu", name="hidden_1")(state)
    x = layers.Dense(32, activation="relu", name="hidden_2")(x)
    rate = layers.Dense(1, activation="exponential", name="rate")(x)
    return keras.Model(state, rate, name="calls")


x_train, y_train = half_hours(6000)
x_test, y_test = half_hours(1500)

model = build()
model.compile(optimizer=keras.optimizers.SGD(0.02), loss=poisson_nll, jit_compile=True)
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
print("loss by epoch", history.history["loss"])

rate = model.predict(x_test, verbose=0)
base = np.full_like(y_test, y_train.mean())
gain = 1 - np.mean((rate - y_test) ** 2) / np.mean((base - y_test) ** 2)
print(f"score explained {gain:.3f} chance 0.0")
