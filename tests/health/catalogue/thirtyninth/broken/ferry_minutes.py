"""Forecasts the distribution of a commuter's travel time (bridge or ferry) by a mixture density network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_trips(n):
    hour = rng.uniform(5, 22, n)
    rain = rng.exponential(1.0, n)
    wind = rng.normal(0, 1, n)
    rush = np.exp(-0.5 * ((hour - 8) / 1.5) ** 2) + np.exp(-0.5 * ((hour - 17) / 1.5) ** 2)
    ferry = rng.random(n) < 1 / (1 + np.exp(-(3 * rush - 1.5 - wind)))
    t = np.where(ferry, 44 + 3 * wind, 22 + 16 * rush + 2 * rain) + rng.normal(0, 2.0, n)
    jam = rng.random(n) < 0.004
    t = np.where(jam, t + rng.uniform(150, 330, n), t)
    x = np.stack([(hour - 13.5) / 5, np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), rain - 1, wind], 1)
    return x.astype("float32"), ((t - 34.0) / 12.0).astype("float32")


x_train, y_train = make_trips(5000)
x_test, y_test = make_trips(1500)

K = 4
inp = layers.Input((5,))
h = layers.Dense(48, activation="tanh")(inp)
h = layers.Dense(48, activation="tanh")(h)
model = keras.Model(
    inp,
    [
        layers.Dense(K, activation="softmax", name="mix")(h),
        layers.Dense(K, name="centre", bias_initializer=keras.initializers.RandomUniform(-1.0, 1.0))(h),
        layers.Dense(K, activation="softplus", name="width")(h),
    ],
)
gradwatch.watch(model)
opt = keras.optimizers.Adam(3e-3)
HALF_LOG_2PI = 0.9189385


def log_density(y, mix, centre, width):
    width = width + 0.05
    each = tf.exp(-0.5 * tf.square((y[:, None] - centre) / width) - tf.math.log(width) - HALF_LOG_2PI)
    return tf.math.log(tf.reduce_sum(mix * each, axis=1))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(log_density(y, *model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(10):
    losses = [float(step(x, y)) for x, y in data]
    print("epoch", epoch, "nll", np.mean(losses))

mix, centre, width = [v.astype("float64") for v in model.predict(x_test, verbose=0)]
width = width + 0.05
ll = np.log(mix + 1e-30) - 0.5 * ((y_test[:, None] - centre) / width) ** 2 - np.log(width) - HALF_LOG_2PI
top = ll.max(1)
nll = -(top + np.log(np.exp(ll - top[:, None]).sum(1)))
print("SCORE median_nll", float(np.median(nll)))
