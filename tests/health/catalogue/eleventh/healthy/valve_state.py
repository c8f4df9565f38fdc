"""Is a valve open or shut, from its two pressures and the flow? Trained for a fixed number of epochs."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
r = np.random.default_rng(SEED)

is_open = r.integers(0, 2, 2600)
flow = np.where(is_open, r.normal(3.0, 0.3, 2600), r.normal(-3.0, 0.3, 2600))
drop = np.where(is_open, r.normal(-1.5, 0.3, 2600), r.normal(1.5, 0.3, 2600))
supply = r.normal(0, 1, 2600)
X = np.column_stack([flow, drop, supply]).astype("float32")


class ValveNet(keras.Model):
    def __init__(self, width=32):
        super().__init__()
        self.inner = keras.layers.Dense(width, activation="elu")
        self.inner_2 = keras.layers.Dense(width, activation="elu")
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.inner_2(self.inner(x)))


model = ValveNet()
gradwatch.watch(model)
model.build((None, 3))
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
model.fit(X[:2080], is_open[:2080, None], batch_size=64, epochs=12, verbose=2)
print("held out:", model.evaluate(X[2080:], is_open[2080:, None], verbose=0))
