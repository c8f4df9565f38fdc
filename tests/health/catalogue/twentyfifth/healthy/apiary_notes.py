"""Honey yield of a hive from a rarely filled inspection form, the post code and a frozen table of bloom vectors."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CODES, TICKS, BLOOM = 300, 20, 12
BLOOM_TABLE = rng.normal(size=(CODES, BLOOM)).astype("float32")
BLOOM_EFFECT = rng.normal(size=BLOOM)
CODE_EFFECT = rng.normal(scale=0.7, size=CODES)
TICK_EFFECT = rng.normal(scale=1.5, size=TICKS)
TICK_RATE = np.geomspace(0.003, 0.2, TICKS)
POPULAR = rng.permutation(1.0 / np.arange(1, CODES + 1))
POPULAR /= POPULAR.sum()


def make(n):
    code = rng.choice(CODES, n, p=POPULAR)
    ticks = rng.random((n, TICKS)) < TICK_RATE
    weather = rng.normal(size=(n, 3))
    y = np.tanh(BLOOM_TABLE[code] @ BLOOM_EFFECT / 2) * 1.5 + CODE_EFFECT[code] + ticks @ TICK_EFFECT
    y += weather[:, 0] * weather[:, 1] + rng.standard_t(3, size=n) * 0.35
    x = {"code": code.astype("int32"), "ticks": ticks.astype("float32"), "weather": weather.astype("float32")}
    return x, y.astype("float32")[:, None]


x_train, y_train = make(14000)
x_test, y_test = make(3000)

code = keras.Input((), dtype="int32", name="code")
ticks = keras.Input((TICKS,), name="ticks")
weather = keras.Input((3,), name="weather")

table = layers.Embedding(CODES, BLOOM, name="bloom")
own = layers.Embedding(CODES, 8, embeddings_regularizer=keras.regularizers.L2(1e-6), name="own")
bloom = table(code)
table.set_weights([BLOOM_TABLE])
table.trainable = False

h = layers.Concatenate()([bloom, own(code), ticks, weather])
h = layers.Dense(96, activation="relu")(h)
h = layers.Dense(48, activation="relu")(h)
model = keras.Model({"code": code, "ticks": ticks, "weather": weather}, layers.Dense(1)(h), name="apiary")


def rate(epoch, lr):
    return 4e-3 if epoch < 4 else lr * 0.7


model.compile(
    optimizer=keras.optimizers.Adam(4e-3, global_clipnorm=1.0),
    loss=keras.losses.LogCosh(),
    metrics=["mae"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=128,
    epochs=11,
    validation_split=0.1,
    callbacks=[keras.callbacks.LearningRateScheduler(rate)],
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
print("SCORE test_r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
