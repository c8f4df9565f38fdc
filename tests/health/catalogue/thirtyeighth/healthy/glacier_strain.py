"""Predicts the strain rate of glacier ice (of the order of 1e-5 per hour) from stake readings, in the physical unit."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, FEAT, BATCH, STEPS = 4000, 8, 64, 1200


def stakes(n):
    x = rng.normal(size=(n, FEAT))
    y = 1e-5 * (np.exp(0.4 * x[:, 0]) * x[:, 1] + np.abs(x[:, 2]) - 0.5 * x[:, 3] * x[:, 4] + 0.1 * rng.normal(size=n))
    return x.astype("float32"), y.astype("float32")


x_train, y_train = stakes(N)
x_test, y_test = stakes(1000)

model = keras.Sequential(
    [
        keras.Input((FEAT,)),
        layers.Dense(64, activation="swish"),
        layers.Dense(64, activation="swish"),
        layers.Dense(1),
        layers.Rescaling(1e-5),
    ]
)
opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, STEPS), epsilon=1e-16)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True)[:, 0] - y))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    i = rng.integers(0, N, BATCH)
    loss = train_step(tf.constant(x_train[i]), tf.constant(y_train[i]))
    if step % 200 == 0:
        print(step, float(loss))

pred = model.predict(x_test, verbose=0)[:, 0].astype("float64")
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / y_test.astype("float64").var()), 4))
