"""Predicts the remaining capacity of battery cells with an uncertainty per cell."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEATURES = 9


def make_cells(n):
    x = rng.normal(0, 1, (n, FEATURES))
    fade = 0.9 * x[:, 0] - 0.6 * np.abs(x[:, 1]) + 0.7 * x[:, 2] * (x[:, 3] > 0) + 0.3 * np.sin(2 * x[:, 4])
    spread = 0.1 + 0.3 / (1 + np.exp(-2 * x[:, 5]))
    return x.astype("float32"), (fade + spread * rng.normal(0, 1, n)).astype("float32")


x_train, y_train = make_cells(4000)
x_test, y_test = make_cells(1000)

inp = layers.Input((FEATURES,))
h = layers.Dense(64, activation="relu")(inp)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(inp, {"capacity": layers.Dense(1)(h), "logvar": layers.Dense(1)(h)})
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3)


def gaussian_nll(y, out):
    err = y - out["capacity"]
    return 0.5 * tf.reduce_mean(tf.exp(-out["logvar"]) * tf.square(err) + out["logvar"])


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = gaussian_nll(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(50)
for epoch in range(12):
    print("epoch", epoch, np.mean([float(step(a, b)) for a, b in data]))
pred = model.predict(x_test, verbose=0)["capacity"][:, 0]
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
