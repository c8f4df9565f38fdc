"""Card fraud among shop payments; about two frauds in a hundred, weighted classes."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.RandomState(SEED)

n, d = 20000, 18
x = rng.randn(n, d).astype("float32")
score = 1.3 * x[:, 0] - 1.1 * x[:, 3] + 0.9 * x[:, 5] * x[:, 6] + 0.6 * np.abs(x[:, 9])
y = (score + 0.4 * rng.randn(n) > 4.2).astype("float32")
print("share of fraud: %.4f" % y.mean())

model = keras.Sequential(name="fraud")
gradwatch.watch(model)
model.add(keras.Input((d,)))
model.add(keras.layers.Dense(64, activation="relu"))
model.add(keras.layers.Dropout(0.2))
model.add(keras.layers.Dense(32, activation="relu"))
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
share = float(y[:16000].mean())
model.fit(
    x[:16000],
    y[:16000],
    batch_size=256,
    epochs=5,
    verbose=2,
    class_weight={0: 0.5 / (1 - share), 1: 0.5 / share},
)
print("held out:", model.evaluate(x[16000:], y[16000:], verbose=0, return_dict=True))
