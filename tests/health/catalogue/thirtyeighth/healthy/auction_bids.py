"""Predicts the next move of auction bids from weak signals; almost all of the variation is chance."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, FEAT = 20000, 20
w = np.zeros(FEAT)
w[:5] = [1, -1, 0.7, 0.5, -0.5]


def bids(n):
    x = rng.normal(size=(n, FEAT))
    signal = np.tanh(x @ w) * 0.3 + 0.1 * x[:, 5] * x[:, 6]
    return x.astype("float32"), (signal + rng.standard_t(4, n)).astype("float32"), signal


x_train, y_train, _ = bids(N)
x_test, y_test, s_test = bids(5000)

model = keras.Sequential(
    [
        keras.Input((FEAT,)),
        layers.Dense(32, activation="tanh", kernel_regularizer=keras.regularizers.L2(1e-3)),
        layers.Dropout(0.3),
        layers.Dense(1, kernel_initializer="zeros"),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), keras.losses.Huber(1.0))
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=8, validation_split=0.1, verbose=2)
pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE correlation_with_signal", round(float(np.corrcoef(pred, s_test)[0, 1]), 4))
