"""Tomorrow's electricity demand of a district, hour by hour, from the last week and the forecast temperature."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DAYS, PAST = 900, 7
RATE, DECAY = 1e-3, 0.05
BATCH, STEPS = 64, 3500


def district():
    t = np.arange(DAYS * 24)
    hour, day = t % 24, t // 24
    temp = 11 - 9 * np.cos(2 * np.pi * day / 365) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    front = np.zeros(DAYS)
    for d in range(1, DAYS):
        front[d] = 0.75 * front[d - 1] + rng.normal(0, 2.0)
    temp = temp + front[day]
    work = (day % 7 < 5).astype(float)
    shape = 0.6 * np.exp(-(((hour - 8) / 2.0) ** 2)) * work + np.exp(-(((hour - 19) / 2.5) ** 2))
    load = 5 + 2 * shape + 0.12 * np.maximum(16 - temp, 0) + 0.2 * np.maximum(temp - 22, 0) + 0.4 * work
    return (load + rng.normal(0, 0.08, len(t))).reshape(DAYS, 24), temp.reshape(DAYS, 24)


load, temp = district()
l_m, l_s, t_m, t_s = load[:700].mean(), load[:700].std(), temp[:700].mean(), temp[:700].std()
load, temp = (load - l_m) / l_s, (temp - t_m) / t_s
x, y = [], []
for d in range(PAST, DAYS):
    calendar = np.eye(7)[d % 7]
    x.append(np.concatenate([load[d - PAST : d].ravel(), temp[d - 1], temp[d], calendar]))
    y.append(load[d])
x, y = np.array(x, "float32"), np.array(y, "float32")
cut = 700 - PAST
x_train, y_train, x_test, y_test = x[:cut], y[:cut], x[cut:], y[cut:]

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        layers.Dense(96, activation="relu"),
        layers.Dense(96, activation="relu"),
        layers.Dense(24),
    ],
    name="demand",
)
adam = keras.optimizers.Adam(RATE)
kernels = [v for v in model.trainable_variables if "kernel" in v.path]
gradwatch.watch(model)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    adam.apply_gradients(zip(grads, model.trainable_variables))
    for k in kernels:
        k.assign(k * (1.0 - RATE * DECAY))
    return loss


for i in range(STEPS):
    idx = rng.integers(0, cut, BATCH)
    loss = step(tf.constant(x_train[idx]), tf.constant(y_train[idx]))
    if i % 500 == 499:
        print(f"step {i + 1} loss {float(loss):.4f}")

pred = model.predict(x_test, batch_size=100, verbose=0)
print("SCORE demand_rmse", round(float(np.sqrt(np.mean((pred - y_test) ** 2))), 4))
