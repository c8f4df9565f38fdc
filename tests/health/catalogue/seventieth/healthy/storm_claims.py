import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 61)

COUNTIES = 20


def make_days(n):
    wind = rng.gamma(2.0, 1.0, n)
    rain = rng.gamma(1.0, 1.0, n)
    season = rng.uniform(0, 2 * np.pi, n)
    alert = (rng.random(n) < 0.04).astype("float64")
    exposure = np.linspace(-1.5, 2.0, COUNTIES)
    rate = np.exp(
        -2.2
        + exposure[None, :]
        + 0.35 * wind[:, None]
        + 0.2 * rain[:, None]
        + 0.4 * np.cos(season)[:, None]
        + 2.3 * alert[:, None]
    )
    rate = np.minimum(rate, 400.0)
    claims = rng.poisson(rate)
    x = np.stack([wind - 2, rain - 1, np.cos(season), np.sin(season), alert], axis=1)
    return x.astype("float32"), claims.astype("float32"), rate


x_train, claims_train, _ = make_days(4000)
x_test, claims_test, rate_test = make_days(1000)


def poisson_total(y_true, log_rate):
    per_county = tf.exp(log_rate) - y_true * log_rate
    return tf.reduce_sum(per_county, axis=-1)


start = np.log(claims_train.mean(axis=0) + 0.01)
model = keras.Sequential(
    [
        keras.Input((5,), name="weather"),
        keras.layers.Dense(32, activation="relu", name="hidden"),
        keras.layers.Dense(
            COUNTIES,
            bias_initializer=keras.initializers.Constant(start.astype("float32")),
            name="log_rate",
        ),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, clipnorm=20.0),
    loss=poisson_total,
)
gradwatch.watch(model)
history = model.fit(x_train, claims_train, batch_size=64, epochs=20, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])

log_rate = model.predict(x_test, verbose=0)


def deviance(y, log_mu):
    term = np.where(y > 0, y * (np.log(np.maximum(y, 1)) - log_mu), 0.0)
    return 2 * np.sum(term - (y - np.exp(log_mu)))


fitted = deviance(claims_test, log_rate)
flat = deviance(claims_test, np.broadcast_to(np.log(claims_train.mean(axis=0)), log_rate.shape))
print("SCORE", float(1 - fitted / flat))
