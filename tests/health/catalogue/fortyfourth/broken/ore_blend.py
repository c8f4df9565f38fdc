"""Metal recovery of blended ores; pairs of minerals help or hinder each other (factorisation machine)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MINERALS, RANK = 40, 6
world = np.random.default_rng(1234)
single = world.normal(0, 0.3, MINERALS)
latent = world.normal(0, 1.0, (MINERALS, 3))
pair = latent @ latent.T * 0.5


def blends(n):
    x = np.zeros((n, MINERALS))
    for row in x:
        who = rng.choice(MINERALS, rng.integers(3, 8), replace=False)
        row[who] = 1.0
    inter = 0.5 * (np.einsum("ni,ij,nj->n", x, pair, x) - (x**2) @ np.diag(pair))
    y = x @ single + inter + rng.normal(0, 0.2, n)
    return x.astype("float32"), y.astype("float32")


class PairEffects(layers.Layer):
    """Sum over all pairs of present minerals of the dot product of their factors."""

    def __init__(self, rank, **kw):
        super().__init__(**kw)
        self.rank = rank

    def build(self, shape):
        self.factors = self.add_weight(
            shape=(shape[-1], self.rank),
            initializer="zeros",
            name="factors",
        )

    def call(self, x):
        together = ops.square(ops.matmul(x, self.factors))
        alone = ops.matmul(ops.square(x), ops.square(self.factors))
        return 0.5 * ops.sum(together - alone, axis=-1, keepdims=True)


x, y = blends(16000)
x_test, y_test = blends(3000)
m, s = y.mean(), y.std()
y, y_test = (y - m) / s, (y_test - m) / s

inputs = keras.Input((MINERALS,), name="blend")
linear = layers.Dense(1, name="single_effects")(inputs)
pairs = PairEffects(RANK, name="pair_effects")(inputs)
model = keras.Model(inputs, layers.Add()([linear, pairs]), name="recovery")
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    x,
    y,
    batch_size=128,
    epochs=20,
    validation_data=(x_test, y_test),
    verbose=2,
)

pred = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
print("SCORE recovery_r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
