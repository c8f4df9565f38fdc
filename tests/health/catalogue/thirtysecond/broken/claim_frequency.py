"""Predict the yearly number of motor insurance claims of a policy from its tariff features."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, REGIONS = 24000, 22


def make_policies(n, region_effect):
    age = rng.uniform(18, 85, n)
    power = rng.integers(4, 13, n)
    bonus = np.clip(rng.normal(70, 20, n), 50, 150)
    density = rng.lognormal(5, 1.5, n)
    region = rng.integers(0, REGIONS, n)
    exposure = rng.uniform(0.2, 1.0, n)
    log_rate = (
        -2.0
        + 1.3 * np.exp(-(age - 18) / 8)
        + 0.06 * (power - 6)
        + 0.03 * (bonus - 50)
        + 0.12 * (np.log(density) - 5)
        + region_effect[region]
    )
    claims = rng.poisson(exposure * np.exp(log_rate))
    num = np.stack([(age - 50) / 20, (power - 8) / 3, (bonus - 70) / 20, (np.log(density) - 5) / 1.5], 1).astype(
        "float32"
    )
    return num, region.astype("int32"), exposure.astype("float32")[:, None], claims.astype("float32")[:, None]


effect = rng.normal(0, 0.35, REGIONS)
num, region, expo, y = make_policies(N, effect)
num_t, region_t, expo_t, y_t = make_policies(6000, effect)

in_num = keras.Input((4,), name="numeric")
in_reg = keras.Input((), dtype="int32", name="region")
in_exp = keras.Input((1,), name="exposure")
h = layers.Concatenate()([in_num, layers.Embedding(REGIONS, 3)(in_reg)])
h = layers.Dense(32, activation="tanh")(h)
h = layers.Dense(16, activation="tanh")(h)
rate = layers.Dense(
    1, activation="exponential", bias_initializer=keras.initializers.Constant(np.log(y.sum() / expo.sum()))
)(h)
mean = layers.Multiply()([rate, in_exp])
model = keras.Model([in_num, in_reg, in_exp], mean)


def poisson_deviance(y_true, mu):
    log_term = tf.where(y_true > 0, y_true * tf.math.log(y_true / mu), 0.0)
    return 2.0 * tf.reduce_mean(log_term - (y_true - mu), axis=-1)


model.compile(optimizer=keras.optimizers.Nadam(2e-3), loss=poisson_deviance)
gradwatch.watch(model)
model.fit([num, region, expo], y, batch_size=128, epochs=5, validation_split=0.1, verbose=2)

mu = model.predict([num_t, region_t, expo_t], verbose=0)


def np_deviance(y, mu):
    t = np.where(y > 0, y * np.log(np.maximum(y, 1) / mu), 0.0)
    return float(2 * np.mean(t - (y - mu)))


base = np_deviance(y_t, expo_t * y.sum() / expo.sum())
print("SCORE explained_deviance", round(1 - np_deviance(y_t, mu) / base, 4))
