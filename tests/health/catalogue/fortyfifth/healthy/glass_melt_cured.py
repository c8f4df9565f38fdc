"""Trains a factorisation model of the refractive index of a glass from its oxide recipe."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

OXIDES = ["SiO2", "B2O3", "Na2O", "K2O", "CaO", "BaO", "PbO", "Al2O3", "ZnO", "TiO2", "La2O3", "Li2O"]


def make_melts(n, rng, effect, pairs):
    recipe = rng.dirichlet(np.array([6, 3, 2, 2, 2, 1.5, 1.5, 1, 1, 0.8, 0.8, 0.7]), n)
    z = (recipe - recipe.mean(axis=0)) / recipe.std(axis=0)
    index = z @ effect + np.einsum("ni,ij,nj->n", z, pairs, z)
    index = index + rng.normal(0, 0.15, n)
    return recipe, 1.58 + 0.03 * index


class PairTerms(layers.Layer):
    """Sum over all pairs of oxides of <v_i, v_j> x_i x_j."""

    def __init__(self, rank, **kwargs):
        super().__init__(**kwargs)
        self.rank = rank

    def build(self, shape):
        self.v = self.add_weight(shape=(shape[-1], self.rank), initializer="glorot_normal", name="v")
        self.sign = self.add_weight(shape=(self.rank,), initializer="ones", name="sign")

    def call(self, x):
        together = ops.square(ops.matmul(x, self.v))
        alone = ops.matmul(ops.square(x), ops.square(self.v))
        return 0.5 * ops.sum(self.sign * (together - alone), axis=-1, keepdims=True)


rng = np.random.default_rng(SEED)
effect = rng.normal(0, 0.4, len(OXIDES))
factor = rng.normal(0, 0.45, (len(OXIDES), 3))
pairs = np.triu(factor @ factor.T, 1)
x, y = make_melts(12000, rng, effect, pairs)
x_test, y_test = make_melts(2000, rng, effect, pairs)
mean, std = x.mean(axis=0), x.std(axis=0)
x, x_test = ((x - mean) / std).astype("float32"), ((x_test - mean) / std).astype("float32")
y_mean, y_std = y.mean(), y.std()

recipe = keras.Input((len(OXIDES),))
linear = layers.Dense(1)(recipe)
mixed = PairTerms(8)(recipe)
model = keras.Model(recipe, layers.Add()([linear, mixed]))
model.compile(keras.optimizers.Adam(3e-3), loss="mse")
gradwatch.watch(model)

model.fit(x, (y - y_mean) / y_std, batch_size=128, epochs=24, verbose=2)

guess = model.predict(x_test, verbose=0)[:, 0] * y_std + y_mean
r2 = 1 - np.mean((guess - y_test) ** 2) / np.var(y_test)
print(f"rms error of the index {np.sqrt(np.mean((guess - y_test) ** 2)):.5f}")
print(f"SCORE r2 {r2:.4f}")
