import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 41)


def make_stands(n):
    hour = rng.integers(0, 24, n)
    rain = rng.gamma(1.0, 2.0, n)
    wind = rng.gamma(2.0, 3.0, n)
    weekend = rng.integers(0, 2, n)
    metro = rng.integers(0, 2, n)
    rate = np.exp(
        2.1
        + 0.5 * np.log1p(rain)
        + 0.6 * np.sin((hour - 8) / 24 * 2 * np.pi)
        - 0.04 * wind
        + 0.5 * metro
        - 0.3 * weekend
    )
    rented = rng.poisson(rate).astype("float32")
    x = np.stack(
        [
            np.sin(hour / 24 * 2 * np.pi),
            np.cos(hour / 24 * 2 * np.pi),
            np.log1p(rain),
            (wind - 6) / 4,
            weekend,
            metro,
        ],
        axis=1,
    ).astype("float32")
    return x, rented


x_train, y_train = make_stands(8000)
x_test, y_test = make_stands(2000)


def percentage_loss(y_true, y_pred):
    error = tf.abs(y_true - y_pred) / y_true
    return 100.0 * tf.reduce_mean(error)


model = keras.Sequential(
    [
        layers.Input((6,)),
        layers.Dense(64, activation="relu", name="weather"),
        layers.Dense(64, activation="relu", name="demand"),
        layers.Dense(1, activation="softplus", name="rented"),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)

dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train[:, None])).shuffle(8000, seed=SEED).batch(128)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = percentage_loss(yb, pred)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    losses = []
    for xb, yb in dataset:
        loss = train_step(xb, yb)
        watch.log(loss=loss)
        losses.append(float(loss))
    print("epoch", epoch, "loss", np.mean(losses))

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", float(r2))
