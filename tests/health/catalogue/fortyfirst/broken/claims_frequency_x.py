"""Models how often a motor fleet reports claims, with policies that ran for different parts of the year."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def collect(n):
    x = rng.normal(size=(n, 6)).astype("float32")
    exposure = np.clip(rng.beta(0.8, 1.2, n), 0.03, 1.0).astype("float32")
    rate = np.exp(
        1.6 + 0.5 * x[:, 0] - 0.4 * np.maximum(x[:, 1], 0) + 0.35 * x[:, 2] * x[:, 3] + 0.3 * np.sin(2 * x[:, 4])
    )
    return x, exposure, rng.poisson(exposure * rate).astype("float32")


x_train, e_train, y_train = collect(6000)
x_test, e_test, y_test = collect(1500)

model = keras.Sequential(
    [
        layers.Input((6,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def linear_predictor(x, exposure):
    return model(x)[:, 0] + exposure


@tf.function
def train_step(x, exposure, claims):
    with tf.GradientTape() as tape:
        eta = linear_predictor(x, exposure)
        loss = tf.reduce_mean(tf.exp(eta) - claims * eta)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((x_train, e_train, y_train))
    .shuffle(6000, seed=seed)
    .batch(64, drop_remainder=True)
)
for epoch in range(10):
    losses = [float(train_step(*batch)) for batch in data]
    print("epoch", epoch, "loss", round(np.mean(losses), 4))


def deviance(y, mu):
    return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1) / mu), 0) - (y - mu))


mu = np.exp(linear_predictor(tf.constant(x_test), tf.constant(e_test)).numpy())
flat = e_test * y_train.sum() / e_train.sum()
print("SCORE deviance_explained", round(float(1 - deviance(y_test, mu) / deviance(y_test, flat)), 4))
