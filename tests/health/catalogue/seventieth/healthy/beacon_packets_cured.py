import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 27)

STEPS = 24
FEATURES = 6


def make_packets(n):
    x = rng.normal(0, 1, (n, STEPS, FEATURES))
    x[:, :, 0] = 0.0
    where = rng.integers(0, STEPS, n)
    x[np.arange(n), where, 0] = 1.0
    payload = x[np.arange(n), where, 1:4]
    y = 1.2 * payload[:, 0] - 0.8 * payload[:, 1] + 0.5 * payload[:, 2]
    y = y + rng.normal(0, 0.1, n)
    return x.astype("float32"), y.astype("float32")[:, None]


class AttentionPool(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.proj = keras.layers.Dense(units, activation="tanh", name="proj")
        self.score = keras.layers.Dense(1, use_bias=False, name="score")

    def build(self, shape):
        self.proj.build(shape)
        self.score.build(tuple(shape[:-1]) + (self.proj.units,))

    def call(self, x):
        e = self.score(self.proj(x))
        alpha = tf.nn.softmax(e, axis=1)
        return tf.reduce_sum(alpha * x, axis=1)


def build_model():
    packets = keras.Input((STEPS, FEATURES), name="packets")
    h = keras.layers.Dense(24, name="encode")(packets)
    h = AttentionPool(16, name="attention")(h)
    h = keras.layers.Dense(16, activation="relu", name="head")(h)
    out = keras.layers.Dense(1, name="level")(h)
    return keras.Model(packets, out)


x_train, y_train = make_packets(4000)
x_test, y_test = make_packets(800)

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="mse",
)
gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    validation_split=0.1,
    epochs=20,
    batch_size=64,
    verbose=0,
)
print("val loss", history.history["val_loss"][0], history.history["val_loss"][-1])

pred = model.predict(x_test, verbose=0)
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
