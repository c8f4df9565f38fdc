"""Card fraud: about 1.5 % positives, class weights, PR-AUC."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 14000
fraud = (rng.random(N) < 0.015).astype(int)
amount = np.exp(rng.normal(3.0 + 1.0 * fraud, 1.0))
hour = np.where(fraud == 1, rng.normal(2.5, 2.5, N), rng.normal(14, 4.5, N)) % 24
distance = rng.gamma(1.5 + 2.0 * fraud, 12.0)
recent = rng.poisson(1.0 + 3.5 * fraud)
online = rng.random(N) < 0.3 + 0.5 * fraud
shop = rng.normal(0, 1, (N, 8)) + 0.5 * fraud[:, None] * rng.choice([-1, 1], 8)
x = np.column_stack(
    [np.log(amount), np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), np.log1p(distance), recent, online, shop]
)
cut = 10000
x = ((x - x[:cut].mean(0)) / x[:cut].std(0)).astype("float32")

rate = fraud[:cut].mean()
weights = {0: 0.5 / (1 - rate), 1: 0.5 / rate}

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.5),
        layers.Dense(24, activation="relu"),
        layers.Dropout(0.5),
        layers.Dense(1, activation="sigmoid", bias_initializer="zeros"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc"), keras.metrics.AUC(curve="PR", name="pr")],
)
gradwatch.watch(model)
model.fit(
    x[:cut],
    fraud[:cut],
    batch_size=128,
    epochs=7,
    class_weight=weights,
    validation_data=(x[cut:], fraud[cut:]),
    verbose=2,
)
_, auc, pr = model.evaluate(x[cut:], fraud[cut:], verbose=0)
print(f"SCORE test AUC {auc:.3f} PR-AUC {pr:.3f} (base rate {fraud[cut:].mean():.3f})")
