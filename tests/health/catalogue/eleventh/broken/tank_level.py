"""Level of a leaking tank from the series of its inflow readings (a linear recurrent model)."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

T = 50


def series(n):
    inflow = rng.gamma(2.0, 0.5, (n, T)) * (rng.random((n, T)) < 0.6)
    valve = (rng.random((n, T)) < 0.2).astype(float)
    level = np.zeros(n)
    for t in range(T):
        level = 0.95 * level + 0.25 * inflow[:, t] - 0.3 * valve[:, t] * (level > 0.5)
    return np.stack([inflow, valve], -1).astype("float32"), level.astype("float32")[:, None]


x, y = series(6400)
x_val, y_val = series(800)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6400, seed=SEED).batch(32, drop_remainder=True)

signal = keras.Input((T, 2))
state = keras.layers.SimpleRNN(
    40, activation="linear", recurrent_initializer=keras.initializers.Identity(gain=0.9), name="memory"
)(signal)
model = keras.Model(signal, keras.layers.Dense(1, name="level")(state))
gradwatch.watch(model)

sgd = keras.optimizers.SGD(learning_rate=keras.optimizers.schedules.PolynomialDecay(1e-5, 150, 2e-2), momentum=0.9)


@tf.function
def update(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    sgd.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


step = 0
for epoch in range(1):
    for xb, yb in train:
        loss = update(xb, yb)
        if step % 20 == 0:
            print("step %3d  mse %.4f" % (step, loss))
        step += 1

pred = model.predict(x_val, batch_size=400, verbose=0)
print("held-out R2 %.3f" % (1 - np.mean((pred - y_val) ** 2) / np.var(y_val)))
