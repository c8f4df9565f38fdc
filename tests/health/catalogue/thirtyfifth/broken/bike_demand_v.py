"""Predicts hourly bike rentals from weather and calendar, with gradients gathered over four small batches."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ACCUM, BATCH, EPOCHS = 4, 32, 20


def make_hours(n):
    hour, day = rng.integers(0, 24, n), rng.integers(0, 7, n)
    temp, rain, wind = rng.normal(15, 8, n), rng.exponential(1, n), rng.gamma(2, 2, n)
    rush = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 17.5) ** 2) / 6)
    base = np.where(day < 5, 300 * rush, 200 * np.exp(-((hour - 14) ** 2) / 18))
    y = base * (0.4 + 0.6 / (1 + np.exp(-(temp - 10) / 4))) * np.exp(-0.3 * rain)
    y = y - 2 * wind + 40 + 15 * rng.normal(size=n)
    x = np.stack(
        [
            np.sin(hour * np.pi / 12),
            np.cos(hour * np.pi / 12),
            np.sin(hour * np.pi / 6),
            np.cos(hour * np.pi / 6),
            (day >= 5) * 1.0,
            temp,
            rain,
            wind,
        ],
        axis=1,
    )
    return x.astype("float32"), y.astype("float32")[:, None]


x_train, y_train = make_hours(6400)
x_test, y_test = make_hours(1500)
x_mean, x_std = x_train.mean(0), x_train.std(0)
y_mean, y_std = y_train.mean(), y_train.std()
x_train, x_test = (x_train - x_mean) / x_std, (x_test - x_mean) / x_std

model = keras.Sequential(
    [
        layers.Input((x_train.shape[1],)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
gathered = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
gradwatch.watch(model)


@tf.function
def gather(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    for total, g in zip(gathered, grads):
        total.assign_add(g / ACCUM)
    return loss


@tf.function
def apply():
    optimizer.apply_gradients(zip([total.read_value() for total in gathered], model.trainable_variables))


ds = tf.data.Dataset.from_tensor_slices((x_train, (y_train - y_mean) / y_std)).shuffle(6400).batch(BATCH)
for epoch in range(EPOCHS):
    losses = []
    for step, (x, y) in enumerate(ds):
        losses.append(float(gather(x, y)))
        if (step + 1) % ACCUM == 0:
            apply()
    print("epoch", epoch, "loss", np.mean(losses))

pred = model.predict(x_test, verbose=0) * y_std + y_mean
print("SCORE r2", float(1 - ((pred - y_test) ** 2).mean() / y_test.var()))
