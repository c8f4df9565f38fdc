"""Motor third-party liability: claim counts with exposure, postcode effects by embedding."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POSTCODES, REGIONS = 12000, 12


def portfolio(n):
    age = rng.uniform(18, 85, n)
    power = rng.gamma(6.0, 15.0, n)
    bonus = np.clip(rng.exponential(18, n) + 50, 50, 180)
    urban = rng.integers(0, 2, n)
    code = np.minimum(rng.zipf(1.25, n) - 1, POSTCODES - 1)
    region = code % REGIONS
    exposure = rng.uniform(0.2, 1.0, n)
    region_effect = np.linspace(-0.5, 0.5, REGIONS)[region]
    log_rate = (
        -3.0 + 1.1 * np.exp(-(age - 18) / 8) + 0.02 * (bonus - 60) + 0.3 * urban + 0.003 * (power - 90) + region_effect
    )
    claims = rng.poisson(exposure * np.exp(log_rate) * rng.gamma(4.0, 0.25, n))
    num = np.column_stack(
        [(age - 50) / 19, np.exp(-(age - 18) / 10) * 3 - 0.4, (power - 90) / 37, (bonus - 68) / 18, urban - 0.5]
    )
    x = {
        "numeric": num.astype("float32"),
        "postcode": code.astype("int32"),
        "region": region.astype("int32"),
        "log_exposure": np.log(exposure).astype("float32")[:, None],
    }
    return x, claims.astype("float32")[:, None]


x, y = portfolio(48000)
xv, yv = portfolio(16000)
base_rate = y.sum() / np.exp(x["log_exposure"]).sum()

numeric = keras.Input((5,), name="numeric")
postcode = keras.Input((), dtype="int32", name="postcode")
region = keras.Input((), dtype="int32", name="region")
log_exposure = keras.Input((1,), name="log_exposure")
h = layers.Concatenate()(
    [
        numeric,
        layers.Embedding(POSTCODES, 2, embeddings_initializer="zeros", name="postcode_effect")(postcode),
        layers.Embedding(REGIONS, 3, name="region_effect")(region),
    ]
)
h = layers.Dense(24, activation="softplus")(h)
eta = layers.Dense(
    1,
    kernel_initializer=keras.initializers.RandomNormal(stddev=0.02),
    bias_initializer=keras.initializers.Constant(float(np.log(base_rate))),
)(h)
mu = layers.Lambda(lambda z: ops.exp(z[0] + z[1]))([eta, log_exposure])
model = keras.Model([numeric, postcode, region, log_exposure], mu)


def deviance(obs, mean):
    term = np.where(obs > 0, obs * np.log(np.maximum(obs, 1) / mean), 0.0)
    return float(2 * np.mean(term - (obs - mean)))


print("claim-free share", round(float((y == 0).mean()), 3))
print("deviance, flat rate:", round(deviance(yv, base_rate * np.exp(xv["log_exposure"])), 5))
print("deviance, untrained:", round(deviance(yv, model.predict(xv, batch_size=2000, verbose=0)), 5))
model.compile(optimizer=keras.optimizers.RMSprop(2e-3), loss=keras.losses.Poisson())
gradwatch.watch(model)
model.fit(x, y, batch_size=256, epochs=4, verbose=2, validation_data=(xv, yv), validation_batch_size=2000)
print("deviance, trained:", round(deviance(yv, model.predict(xv, batch_size=2000, verbose=0)), 5))
