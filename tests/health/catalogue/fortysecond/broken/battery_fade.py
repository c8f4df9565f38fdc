"""Trains a deep gated tower that predicts battery capacity loss from the charging protocol."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WIDTH, DEPTH, BATCH, EPOCHS = 32, 24, 64, 14


def make_cells(count):
    first_rate = rng.uniform(1, 6, count)
    second_rate = rng.uniform(1, 6, count)
    switch = rng.uniform(0.1, 0.8, count)
    heat = rng.uniform(5, 45, count)
    rest = rng.exponential(20, count).clip(0, 90)
    depth = rng.uniform(0.3, 1.0, count)
    mean_rate = switch * first_rate + (1 - switch) * second_rate
    plating = np.log1p(np.exp(1.5 * (mean_rate - 2.0 - 0.08 * heat)))
    ageing = np.exp((heat - 25) / 15) * (0.3 + 0.7 * np.exp(-rest / 25))
    loss = 2.0 * plating * depth + 1.5 * ageing + 1.2 * np.cos(3 * depth) * np.sqrt(mean_rate)
    table = np.stack([first_rate, second_rate, switch, heat, rest, depth], 1)
    return table.astype("float32"), (loss + rng.normal(0, 0.1, count)).astype("float32")


x_train, y_train = make_cells(4096)
x_test, y_test = make_cells(1000)
x_mean, x_std = x_train.mean(0), x_train.std(0)
y_mean, y_std = y_train.mean(), y_train.std()
x_train, x_test = (x_train - x_mean) / x_std, (x_test - x_mean) / x_std
y_train, y_test = (y_train - y_mean) / y_std, (y_test - y_mean) / y_std


def gated_unit(x):
    value = layers.Dense(WIDTH, activation="tanh")(x)
    gate = layers.Dense(WIDTH, activation="sigmoid")(x)
    return layers.Multiply()([value, gate])


def build_tower():
    inputs = keras.Input((6,))
    x = layers.Dense(WIDTH)(inputs)
    for _ in range(DEPTH):
        x = gated_unit(x)
    return keras.Model(inputs, layers.Dense(1)(x))


model = build_tower()
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4096, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    losses = [float(train_step(x, y)) for x, y in dataset]
    print(f"epoch {epoch + 1:2d} mse {np.mean(losses):.4f}")

pred = model.predict(x_test, batch_size=250, verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
