"""Trains a regressor of concrete strength from mix proportions and curing age."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

EPOCHS, BATCH = 40, 64


def make_mixes(count):
    cement = rng.uniform(150, 520, count)
    slag = rng.uniform(0, 250, count) * (rng.uniform(size=count) < 0.6)
    ash = rng.uniform(0, 180, count) * (rng.uniform(size=count) < 0.5)
    water = rng.uniform(130, 230, count)
    plasticiser = rng.uniform(0, 20, count)
    coarse = rng.uniform(800, 1150, count)
    fine = rng.uniform(600, 980, count)
    age = rng.choice([3, 7, 14, 28, 56, 90, 180], count)
    binder = cement + 0.7 * slag + 0.4 * ash
    ratio = water * (1 - 0.012 * plasticiser) / binder
    grading = 1 - 3.0 * (fine / (fine + coarse) - 0.43) ** 2
    strength = 95 * np.exp(-1.5 * ratio) * grading
    strength *= np.exp(0.25 * (1 - np.sqrt(28 / age))) * (1 + 0.0006 * slag * np.log(age / 7))
    strength += rng.normal(0, 1.0, count)
    table = np.stack([cement, slag, ash, water, plasticiser, coarse, fine, np.log(age)], 1)
    return table.astype("float32"), strength.astype("float32")


x, y = make_mixes(6000)
split = 5000
mean, std = x[:split].mean(0), x[:split].std(0)
x = (x - mean) / std
y_mean, y_std = y[:split].mean(), y[:split].std()
target = (y - y_mean) / y_std
x_train, t_train = x[:split], target[:split]
x_test, y_test = x[split:], y[split:]


def residual_block(h, width):
    z = layers.Dense(width, activation="swish")(h)
    z = layers.Dense(width)(z)
    return layers.Add()([h, z])


inputs = keras.Input((8,))
h = layers.Dense(64)(inputs)
for _ in range(3):
    h = residual_block(h, 64)
h = layers.Activation("swish")(h)
model = keras.Model(inputs, layers.Dense(1)(h))

steps_per_epoch = int(np.ceil(split / BATCH))
schedule = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=EPOCHS * steps_per_epoch)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(x_train, t_train, batch_size=BATCH, epochs=EPOCHS, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0] * y_std + y_mean
print("SCORE rmse_mpa", float(np.sqrt(np.mean((pred - y_test) ** 2))))
