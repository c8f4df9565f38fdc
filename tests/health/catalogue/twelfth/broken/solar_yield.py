"""Estimates the daily yield (kWh) of a solar park from the hourly weather forecast."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DAYS, TRAIN = 4600, 4000
hour = np.arange(24)
season = rng.uniform(0, 2 * np.pi, DAYS)
length = 5.5 + 1.8 * np.sin(season)
sun = np.clip(np.cos((hour[None] - 12.5) / length[:, None] * np.pi / 2), 0, None)
sun = np.where(np.abs(hour[None] - 12.5) < length[:, None], sun, 0.0)
base_cloud = rng.beta(1.2, 1.5, (DAYS, 1))
cloud = np.clip(base_cloud + 0.2 * rng.standard_normal((DAYS, 24)), 0, 1)
temperature = 12 + 9 * np.sin(season)[:, None] + 6 * sun - 4 * cloud + rng.standard_normal((DAYS, 24))
wind = rng.gamma(2.0, 2.0, (DAYS, 24))
radiation = sun * (1 - 0.75 * cloud)
efficiency = 1 - 0.005 * (temperature + 20 * radiation - 25 - 0.3 * wind)
yield_kwh = (9500 * (radiation * efficiency).sum(1) * (1 + 0.03 * rng.standard_normal(DAYS))).astype("float32")

features = np.stack([sun, cloud, temperature, wind], -1)
features = ((features - features.mean((0, 1))) / features.std((0, 1))).astype("float32")

x_train, y_train = features[:TRAIN], yield_kwh[:TRAIN]
x_test, y_test = features[TRAIN:], yield_kwh[TRAIN:]


class YieldModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv_1 = tf.keras.layers.Conv1D(24, 3, padding="same", activation="relu")
        self.conv_2 = tf.keras.layers.Conv1D(24, 3, strides=2, padding="same", activation="relu")
        self.flat = tf.keras.layers.Flatten()
        self.dense = tf.keras.layers.Dense(32, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.dense(self.flat(self.conv_2(self.conv_1(x)))))


model = YieldModel()
gradwatch.watch(model)
model(x_train[:2])
model.compile(tf.keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
model.fit(x_train, y_train, batch_size=80, epochs=6, verbose=2)

guess = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.mean((guess - y_test) ** 2) / y_test.var()
print(f"score r2 {r2:.4f} chance 0.0000")
