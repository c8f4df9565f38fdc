"""Trains a model of the germination curve of seed trays: onset, speed and shape from the conditions."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def germinated(day, lag, scale, shape):
    age = np.maximum(day - lag, 0.0)
    return 1.0 - np.exp(-((age / scale) ** shape))


def grow(n):
    warmth = rng.normal(0, 1, n)
    moisture = rng.normal(0, 1, n)
    depth = rng.normal(0, 1, n)
    lag = 3.0 + 1.2 * np.tanh(depth) - 0.6 * np.tanh(warmth)
    scale = 4.0 * np.exp(-0.3 * np.tanh(warmth) + 0.2 * np.tanh(moisture * depth))
    shape = 1.8 + 0.5 * np.tanh(moisture)
    day = rng.uniform(0.0, 14.0, n)
    share = germinated(day, lag, scale, shape) + rng.normal(0, 0.02, n)
    conditions = np.stack([warmth, moisture, depth], axis=1).astype("float32")
    return conditions, day[:, None].astype("float32"), share[:, None].astype("float32")


@keras.saving.register_keras_serializable()
class GerminationCurve(keras.layers.Layer):
    """Weibull curve with an onset, whose three parameters come from the conditions."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.to_lag = keras.layers.Dense(1)
        self.to_scale = keras.layers.Dense(1)
        self.to_shape = keras.layers.Dense(1)

    def build(self, input_shape):
        features = input_shape[0]
        self.to_lag.build(features)
        self.to_scale.build(features)
        self.to_shape.build(features)
        super().build(input_shape)

    def call(self, inputs):
        features, day = inputs
        lag = 2.0 * tf.nn.softplus(self.to_lag(features) + 1.0)
        scale = 1.0 + 4.0 * tf.nn.softplus(self.to_scale(features))
        shape = 1.0 + tf.nn.softplus(self.to_shape(features))
        age = day - lag
        hazard = tf.where(age > 0.0, tf.pow(tf.maximum(age, 1e-3) / scale, shape), 0.0)
        return 1.0 - tf.exp(-hazard)


conditions, day, share = grow(8000)
test_conditions, test_day, test_share = grow(2000)

cond_in = keras.Input((3,), name="conditions")
day_in = keras.Input((1,), name="day")
h = keras.layers.Dense(32, activation="tanh")(cond_in)
h = keras.layers.Dense(32, activation="tanh")(h)
out = GerminationCurve(name="curve")([h, day_in])
model = keras.Model([cond_in, day_in], out)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)

model.fit(
    [conditions, day],
    share,
    batch_size=128,
    epochs=20,
    verbose=2,
    validation_data=([test_conditions, test_day], test_share),
)

pred = model.predict([test_conditions, test_day], verbose=0)
r2 = 1.0 - np.mean((pred - test_share) ** 2) / np.var(test_share)
print(f"SCORE r2 {r2:.4f}")
