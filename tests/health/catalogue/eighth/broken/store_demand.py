"""Weekly demand per store: a learned store effect plus price and season."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

BASE_ID, STORES = 20000, 800
ROWS, BATCH, EPOCHS = 24000, 192, 5

level = rng.normal(0.0, 1.0, STORES)
elasticity = rng.normal(-0.8, 0.3, STORES)


def weeks(n):
    store = rng.integers(STORES, size=n)
    price = rng.normal(0, 1, n)
    week = rng.integers(52, size=n)
    promo = (rng.random(n) < 0.2).astype("float64")
    season = np.sin(2 * np.pi * week / 52)
    y = level[store] + elasticity[store] * price + 0.5 * season + 0.6 * promo + rng.normal(0, 0.25, n)
    x = np.stack(
        [BASE_ID + 1 + store, price, np.sin(2 * np.pi * week / 52), np.cos(2 * np.pi * week / 52), promo], axis=1
    )
    return x.astype("float32"), y.astype("float32")[:, None]


class DemandModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.store = layers.Embedding(STORES + 1, 8, name="store")
        self.hidden = layers.Dense(64, activation="relu")
        self.hidden2 = layers.Dense(32, activation="relu")
        self.out = layers.Dense(1, dtype="float32")

    def call(self, table):
        index = tf.cast(table[:, 0], tf.int32) - BASE_ID
        h = tf.concat([self.store(index), tf.cast(table[:, 1:], self.compute_dtype)], axis=-1)
        return self.out(self.hidden2(self.hidden(h)))


x_train, y_train = weeks(ROWS)
x_test, y_test = weeks(3000)

model = DemandModel()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="mse")

gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)

print("mse by epoch", [round(v, 4) for v in history.history["loss"]])
pred = model.predict(x_test, batch_size=500, verbose=0)
mse = float(np.mean((pred - y_test) ** 2))
print(f"test mse {mse:.4f}  R2 {1 - mse / float(np.var(y_test)):.4f}")
