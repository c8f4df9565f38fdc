"""Passengers per ferry sailing from timetable, weather and calendar (count model, own training loop)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, BATCH, EPOCHS = 12000, 96, 12
START_RATE, COOLING = 0.05, 0.85
ROUTES = 9


def sailings(n):
    route = rng.integers(0, ROUTES, n)
    hour = rng.uniform(5, 23, n)
    day = rng.integers(0, 7, n)
    week = rng.integers(0, 52, n)
    swell = rng.gamma(2.0, 0.5, n)
    season = np.exp(-(((week - 29) / 9.0) ** 2))
    rush = np.exp(-(((hour - 8) / 1.2) ** 2)) * (day < 5) + np.exp(-(((hour - 17) / 1.5) ** 2)) * (day < 5)
    leisure = np.exp(-(((hour - 13) / 3.0) ** 2)) * (day >= 5)
    mean = np.exp(2.2 + 0.12 * route + 1.0 * rush * (route % 3 == 0) + 1.1 * season * leisure - 0.3 * swell)
    num = np.stack(
        [np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), hour / 12 - 1, np.cos(week * np.pi / 26), swell - 1], 1
    )
    onehot = np.concatenate([np.eye(ROUTES)[route], np.eye(7)[day]], 1)
    return np.concatenate([num, onehot], 1).astype("float32"), rng.poisson(mean).astype("float32"), mean


x, y, _ = sailings(N)
x_test, y_test, mean_test = sailings(3000)

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(64, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1, bias_initializer=keras.initializers.Constant(float(np.log(y.mean())))),
    ],
    name="ferry_counts",
)
opt = keras.optimizers.SGD(START_RATE, momentum=0.9, clipnorm=1.0)
gradwatch.watch(model)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        log_mean = model(xb, training=True)[:, 0]
        loss = tf.reduce_mean(tf.nn.log_poisson_loss(yb, log_mean)) / 10.0
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(N, seed=seed).batch(BATCH, drop_remainder=True)
for epoch in range(EPOCHS):
    running = []
    for xb, yb in data:
        running.append(float(train_step(xb, yb)))
    opt.learning_rate.assign(opt.learning_rate * COOLING)
    print(f"epoch {epoch + 1:2d} loss {np.mean(running):.4f}")

log_mean = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
print("SCORE log_mean_r2", round(float(1 - np.var(log_mean - np.log(mean_test)) / np.var(np.log(mean_test))), 4))
