"""Trains a Tweedie regression of daily bread sales for the branches of a bakery chain."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, BRANCHES = 12000, 20
POWER = 1.5

branch = rng.integers(0, BRANCHES, N)
size = rng.normal(0, 0.6, BRANCHES)
weekday = rng.integers(0, 7, N)
rain = rng.gamma(1.0, 1.0, N)
temperature = rng.normal(15, 7, N)
holiday = (rng.random(N) < 0.05).astype("float32")

mean = np.exp(0.3 + size[branch] + 0.5 * (weekday >= 5) - 0.3 * rain - 0.03 * (temperature - 15) - 1.2 * holiday)
counts = rng.poisson(mean / 0.5)
sales = np.array([rng.gamma(c * 2.0, 0.25) if c else 0.0 for c in counts], "float32")

features = np.column_stack(
    [
        np.eye(7)[weekday],
        (rain - rain.mean()) / rain.std(),
        (temperature - 15) / 7,
        holiday,
    ]
).astype("float32")
n_train = 10000


class TweedieDeviance(keras.losses.Loss):
    """Tweedie deviance with 1 < power < 2, up to a constant in the targets."""

    def __init__(self, power, **kwargs):
        super().__init__(**kwargs)
        self.power = power

    def call(self, y_true, y_pred):
        y_true = tf.reshape(tf.cast(y_true, y_pred.dtype), tf.shape(y_pred))
        p = self.power
        a = y_true * tf.pow(y_pred, 1.0 - p) / (1.0 - p)
        b = tf.pow(y_pred, 2.0 - p) / (2.0 - p)
        return tf.reduce_mean(2.0 * (b - a), axis=-1)


branch_in = keras.Input((1,), dtype="int32")
feature_in = keras.Input((features.shape[1],))
x = keras.layers.Flatten()(keras.layers.Embedding(BRANCHES, 4)(branch_in))
x = keras.layers.Concatenate()([x, feature_in])
x = keras.layers.Dense(48, activation="swish")(x)
x = keras.layers.Dense(24, activation="swish")(x)
out = keras.layers.Dense(1, activation="relu", bias_initializer="ones")(x)
model = keras.Model([branch_in, feature_in], out)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=TweedieDeviance(POWER))
gradwatch.watch(model)

model.fit(
    [branch[:n_train, None], features[:n_train]],
    sales[:n_train],
    batch_size=64,
    epochs=12,
    verbose=2,
)

pred = model.predict([branch[n_train:, None], features[n_train:]], batch_size=500, verbose=0)[:, 0]
corr = np.corrcoef(pred, mean[n_train:])[0, 1]
print("SCORE correlation", round(float(corr), 4))
