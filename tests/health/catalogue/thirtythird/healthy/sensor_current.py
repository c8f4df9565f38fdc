"""Model the leakage current of a sensor, in amperes, from voltage, temperature and humidity."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BATCH, EPOCHS, MICRO = 50, 12, 1e-6


def make(n):
    volt = rng.uniform(0, 5, n)
    temp = rng.uniform(-20, 60, n)
    hum = rng.uniform(0.1, 0.9, n)
    amp = 0.2e-6 * volt * np.exp(0.02 * temp) * (1 + 2 * hum**2)
    amp += rng.normal(0, 0.05e-6, n)
    x = np.stack([volt / 2.5 - 1, temp / 40 - 0.5, 2 * hum - 1], 1)
    return x.astype("float32"), amp.astype("float32")[:, None]


x_train, y_train = make(4000)
x_test, y_test = make(800)
ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000).batch(BATCH)

model = keras.Sequential(
    [
        keras.Input((3,)),
        layers.Dense(32, activation="swish"),
        layers.Dense(32, activation="swish"),
        layers.Dense(1),
        layers.Rescaling(MICRO),
    ]
)
optimizer = keras.optimizers.Adam(3e-3, epsilon=1e-18)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [float(train_step(x, y)) for x, y in ds]
    print("epoch", epoch, "mse", np.mean(losses))

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))
