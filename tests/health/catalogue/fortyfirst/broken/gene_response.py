"""Predicts a tumour's drug response from the expression of many genes, of which only a few matter."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


GENES = 800
effect = np.zeros(GENES)
effect[rng.choice(GENES, 10, replace=False)] = rng.choice([-1, 1], 10) * rng.uniform(0.5, 1.0, 10)


def collect(n):
    x = rng.normal(size=(n, GENES)).astype("float32")
    signal = x @ effect
    return x, (signal + 0.5 * rng.normal(size=n)).astype("float32")


x_train, y_train = collect(240)
x_test, y_test = collect(500)

model = keras.Sequential(
    [
        layers.Input((GENES,)),
        layers.Dense(1, kernel_regularizer=keras.regularizers.L1(0.12)),
    ]
)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, 1200))
mse = keras.losses.MeanSquaredError()
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = mse(y[:, None], pred)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(240).batch(24)
for epoch in range(120):
    losses = [float(train_step(x, y)) for x, y in data]
    if epoch % 20 == 0:
        print("epoch", epoch, "loss", round(np.mean(losses), 4))

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
