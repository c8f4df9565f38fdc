"""Trains a factor model of how much each cook likes each recipe."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COOKS, RECIPES, RANK = 400, 250, 8

taste = rng.normal(0, 1, (COOKS, 4))
flavour = rng.normal(0, 1, (RECIPES, 4))
easy = rng.normal(0, 0.4, RECIPES)
cook = rng.integers(0, COOKS, 40000)
recipe = rng.integers(0, RECIPES, 40000)
rating = (taste[cook] * flavour[recipe]).sum(1) / 2.0 + easy[recipe] + rng.normal(0, 0.3, 40000)
rating = rating.astype("float32")
pairs = np.stack([cook, recipe], axis=1).astype("int32")
n_train = 34000


@keras.saving.register_keras_serializable()
class LatentFactors(keras.layers.Layer):
    """Inner product of a cook's and a recipe's factors."""

    def __init__(self, cooks, recipes, rank, **kwargs):
        super().__init__(**kwargs)
        self.cooks, self.recipes, self.rank = cooks, recipes, rank

    def build(self, input_shape):
        init = keras.initializers.RandomNormal(stddev=0.3)
        self.cook_factors = self.add_weight(
            shape=(self.cooks, self.rank), initializer=init, trainable=True, name="cook_factors"
        )
        self.recipe_factors = self.add_weight(
            shape=(self.recipes, self.rank), initializer=init, trainable=True, name="recipe_factors"
        )
        super().build(input_shape)

    def call(self, pair):
        u = tf.gather(self.cook_factors, pair[:, 0])
        v = tf.gather(self.recipe_factors, pair[:, 1])
        return tf.reduce_sum(u * v, axis=-1, keepdims=True)


pair_in = keras.Input((2,), dtype="int32", name="pair")
match = LatentFactors(COOKS, RECIPES, RANK, name="latent_factors")(pair_in)
cook_bias = keras.layers.Embedding(COOKS, 1, name="cook_bias")(pair_in[:, 0])
recipe_bias = keras.layers.Embedding(RECIPES, 1, name="recipe_bias")(pair_in[:, 1])
total = keras.layers.Add()([match, cook_bias, recipe_bias])
score = keras.layers.Dense(1, kernel_initializer="ones", name="score")(total)
model = keras.Model(pair_in, score)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    pairs[:n_train],
    rating[:n_train],
    validation_split=0.1,
    batch_size=256,
    epochs=10,
    verbose=2,
)

pred = model.predict(pairs[n_train:], verbose=0).ravel()
truth = rating[n_train:]
r2 = 1.0 - np.mean((pred - truth) ** 2) / np.var(truth)
print(f"SCORE r2 {r2:.4f}")
