"""Trains a warning of chimney fires (a rare event) from flue sensors and sweep records."""

import os

import keras
import numpy as np
from keras import initializers, layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(42 + seed)

N, D = 24000, 18


def draw(n):
    x = rng.normal(size=(n, D))
    x[:, 4] = 0.7 * x[:, 0] + 0.7 * x[:, 4]
    soot = 0.9 * x[:, 0] + 0.7 * np.maximum(x[:, 1], 0) * 2 - 0.8 * x[:, 2] * x[:, 3]
    draught = np.tanh(x[:, 5] + x[:, 6]) + 0.5 * np.abs(x[:, 7])
    risk = 1.9 * soot + 1.4 * draught - 7.0
    fire = rng.random(n) < 1 / (1 + np.exp(-risk))
    return x.astype("float32"), fire.astype("float32")


x, fire = draw(N)
x_te, fire_te = draw(8000)
m, s = x.mean(0), x.std(0)
x, x_te = (x - m) / s, (x_te - m) / s

rate = fire.mean()
prior = initializers.Constant(float(np.log(rate / (1.0 - rate))))
print(f"{rate:.3%} of flues burnt, prior {prior.value:.2f}")


def dense_block(h, units):
    return layers.Dense(units, activation="relu")(h)


inputs = keras.Input((D,))
h = dense_block(inputs, 48)
h = dense_block(h, 48)
h = dense_block(h, 24)
outputs = layers.Dense(1, activation="sigmoid", bias_initializer=prior)(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(curve="PR", name="pr")],
)
gradwatch.watch(model)
model.fit(x, fire, batch_size=256, epochs=10, validation_split=0.1, verbose=2)

ev = model.evaluate(x_te, fire_te, batch_size=1000, verbose=0, return_dict=True)
print("SCORE pr_auc", round(ev["pr"], 4))
