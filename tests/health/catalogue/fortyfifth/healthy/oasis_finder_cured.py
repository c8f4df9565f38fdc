"""Finds the rare desert tiles with open water from multispectral band statistics."""

import functools
import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 404)

BANDS, N = 24, 40000
mixing = rng.normal(size=(6, BANDS)) / np.sqrt(6)
latent = rng.normal(size=(N, 6))
tiles = latent @ mixing + 0.3 * rng.normal(size=(N, BANDS))
wetness = latent[:, 0] * latent[:, 1] + 0.9 * latent[:, 2] - 0.5 * latent[:, 3] ** 2
water = (wetness > np.quantile(wetness, 0.98)).astype("float32")
tiles = ((tiles - tiles.mean(0)) / tiles.std(0)).astype("float32")

split = 34000
x_train, y_train = tiles[:split], water[:split]
x_test, y_test = tiles[split:], water[split:]

share = float(y_train.mean())
prior = keras.initializers.Constant(np.log(share / (1.0 - share)))
Dense = functools.partial(keras.layers.Dense, kernel_initializer="he_normal")

model = keras.Sequential(
    [
        keras.Input((BANDS,)),
        Dense(96, activation="relu"),
        Dense(96, activation="relu"),
        Dense(48, activation="relu"),
        Dense(1, activation="sigmoid", bias_initializer=prior),
    ],
    name="oasis",
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(curve="PR", name="pr_auc")],
)
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    epochs=6,
    batch_size=128,
    validation_data=(x_test, y_test),
    verbose=2,
)
print("water share", share)
result = model.evaluate(x_test, y_test, verbose=0, return_dict=True)
print("SCORE pr_auc", round(float(result["pr_auc"]), 4))
