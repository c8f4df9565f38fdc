"""Long ECG strips with a single ectopic beat: estimate its severity score.

Every strip is a series of beats (8 shape features each); attention picks the
beat that matters and a linear head reads the score from it.
"""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STRIPS, BEATS, FEATS = 2500, 40, 8

normal = rng.normal(0, 1, (STRIPS, BEATS, FEATS))
normal[..., 0] = rng.normal(-0.3, 0.25, (STRIPS, BEATS))  # QRS width
where = rng.integers(0, BEATS, STRIPS)
rows = np.arange(STRIPS)
normal[rows, where, 0] = rng.normal(2.0, 0.25, STRIPS)  # the ectopic beat is wide
w = np.array([0, 0.8, -0.6, 0.5, 0, 0.4, -0.7, 0.3])
score = normal[rows, where] @ w + rng.normal(0, 0.2, STRIPS)
x = normal.astype("float32")
y = ((score - score.mean()) / score.std()).astype("float32")
x_train, y_train, x_test, y_test = x[:2000], y[:2000], x[2000:], y[2000:]


class AttentionPooling(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.key = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1)

    def build(self, shape):
        self.key.build(shape)
        self.score.build((*shape[:-1], self.key.units))
        super().build(shape)

    def call(self, beats):
        weights = ops.softmax(self.score(self.key(beats)))
        return ops.sum(weights * beats, axis=1)


inp = keras.Input((BEATS, FEATS))
h = AttentionPooling(24, name="attention")(inp)
h = layers.Dense(24, activation="relu")(h)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=50, epochs=12, validation_data=(x_test, y_test), verbose=2)
pred = model.predict(x_test, verbose=0)[:, 0]
print(f"SCORE test R2 {1 - np.mean((pred - y_test) ** 2) / np.var(y_test):.3f}")
