"""Predict the water temperature of a river (in degrees) from weather readings, in mixed precision."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED)


def weather(n):
    day = rng.uniform(0, 365, n)
    air = 12 - 10 * np.cos(2 * np.pi * (day - 20) / 365) + rng.normal(0, 4, n)
    flow = rng.gamma(3.0, 1.0, n)
    sun = np.clip(rng.normal(0.5, 0.25, n), 0, 1)
    rest = rng.normal(size=(n, 10))
    water = 13 - 7 * np.cos(2 * np.pi * (day - 35) / 365) + 0.35 * (air - 12) + 3 * sun / (0.5 + flow)
    water += 0.8 * np.tanh(rest[:, 0] * rest[:, 1]) + rng.normal(0, 0.4, n)
    x = np.column_stack(
        [np.sin(2 * np.pi * day / 365), np.cos(2 * np.pi * day / 365), (air - 12) / 8, flow / 3 - 1, sun - 0.5, rest]
    )
    return x.astype("float32"), water.astype("float32")[:, None]


x_train, y_train = weather(640 * 60)
x_test, y_test = weather(2000)

inputs = keras.Input((x_train.shape[1],))
h = layers.Dense(512, activation="relu", kernel_initializer="he_normal", name="h1")(inputs)
h = layers.Dense(512, activation="relu", kernel_initializer="he_normal", name="h2")(h)
h = layers.Dense(256, activation="relu", kernel_initializer="he_normal", name="h3")(h)
outputs = layers.Dense(1, dtype="float32", name="degrees")(h)
model = keras.Model(inputs, outputs, name="river")
gradwatch.watch(model)

optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(1e-3))
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(8000, seed=SEED).repeat().batch(640)
for step, (x, y) in enumerate(data.take(400)):
    loss = train_step(x, y)
    if step < 10 or step % 50 == 0 or step == 399:
        print("step %d mse %.3f scale %g" % (step, float(loss), float(optimizer.dynamic_scale)))
print(
    "test rmse %.3f (spread %.3f)"
    % (np.sqrt(np.mean((model.predict(x_test, batch_size=500, verbose=0) - y_test) ** 2)), y_test.std())
)
