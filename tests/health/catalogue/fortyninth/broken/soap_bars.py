"""Trains a prediction of soap hardness after curing from the recipe and the readings at the mould."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 31)

#            olive  coconut  palm   lye   water  pot temp  room  humidity  stir min  cure days
CENTRE = [450.0, 250.0, 200.0, 138.0, 310.0, 46.0, 19.0, 58.0, 22.0, 40.0]
SPREAD = [40.0, 30.0, 25.0, 5.0, 20.0, 3.5, 2.0, 6.0, 4.0, 7.0]


def batches(n):
    z = rng.normal(size=(n, len(CENTRE)))
    recipe = np.array(CENTRE) + np.array(SPREAD) * z
    hard = 0.8 * z[:, 2] - 0.7 * z[:, 4] + 0.6 * z[:, 9] + 0.9 * np.sin(1.5 * z[:, 3])
    hard += 0.7 * z[:, 1] * z[:, 5] + 0.6 * np.abs(z[:, 7]) - 0.5 * z[:, 0] * z[:, 8]
    hard += rng.normal(0, 0.2, n)
    return recipe.astype("float32"), hard.astype("float32")


class Recipes:
    """Holds the kitchen's records and hands them out ready for training."""

    def __init__(self, n_train, n_test):
        self.raw, self.hard = batches(n_train)
        self.raw_test, self.hard_test = batches(n_test)
        self.centre = self.raw.mean(axis=0)
        self.spread = self.raw.std(axis=0)

    def train(self):
        return (self.raw - self.centre) / self.spread, self.hard

    def test(self):
        return (self.raw_test - self.centre) / self.spread, self.hard_test


def make_model(sample):
    scale = keras.layers.Normalization(axis=-1)
    scale.adapt(sample)
    return keras.Sequential(
        [
            keras.Input((sample.shape[1],)),
            scale,
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(1),
        ]
    )


book = Recipes(12000, 3000)
x, hard = book.train()
model = make_model(book.raw)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x, hard, batch_size=128, epochs=24, validation_split=0.1, verbose=2)

xt, yt = book.test()
pred = model.predict(xt, batch_size=1000, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - yt) ** 2) / np.var(yt)
print("SCORE r2", round(float(r2), 4))
