"""Flags rare bearing faults (about one in a hundred) in summaries of turbine vibration."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_FEAT = 24
direction = rng.normal(0, 1, N_FEAT) / np.sqrt(N_FEAT)
pair = rng.choice(N_FEAT, 2, replace=False)


def readings(n):
    x = rng.normal(0, 1, (n, N_FEAT))
    risk = 1.6 * (x @ direction) + 0.9 * np.abs(x[:, pair[0]]) * (x[:, pair[1]] > 0)
    y = risk + rng.logistic(0, 0.25, n) > 3.6
    return x.astype("float32"), y.astype("float32")[:, None]


x_train, y_train = readings(20000)
x_test, y_test = readings(8000)
prior = float(y_train.mean())
print(f"faults in training data: {prior:.4f}")

model = keras.Sequential(
    [
        keras.Input((N_FEAT,)),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(24, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(
            1,
            activation="sigmoid",
            kernel_initializer=keras.initializers.RandomNormal(stddev=1e-3),
            bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior))),
        ),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(5e-4),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0),
    metrics=[keras.metrics.AUC(curve="PR", name="pr_auc")],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=9, verbose=2)

score = model.predict(x_test, batch_size=1000, verbose=0)[:, 0]
order = np.argsort(-score)
hit = y_test[order, 0]
precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
print(f"chance level {hit.mean():.4f}")
print("SCORE average_precision", float((precision * hit).sum() / hit.sum()))
