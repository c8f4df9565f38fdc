"""Trains a very deep gated network that dates ice-core slices from their chemistry."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 77)

IONS, WIDTH, DEPTH = 8, 24, 30


def slices(n):
    x = rng.normal(size=(n, IONS))
    age = np.sin(1.5 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * np.abs(x[:, 3]) + 0.4 * x[:, 4]
    return x.astype("float32"), (age / 1.4)[:, None].astype("float32")


class GatedLayer(keras.layers.Layer):
    """Mixes a new representation with the one that came in, unit by unit."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.transform = keras.layers.Dense(units, activation="sigmoid")
        self.gate = keras.layers.Dense(units, activation="sigmoid", bias_initializer=keras.initializers.Constant(2.0))

    def build(self, input_shape):
        self.transform.build(input_shape)
        self.gate.build(input_shape)

    def call(self, x):
        g = self.gate(x)
        return g * self.transform(x) + (1.0 - g) * x


x_train, y_train = slices(8000)
x_test, y_test = slices(2000)
y_mean = y_train.mean()

model = keras.Sequential(
    [keras.Input((IONS,)), keras.layers.Dense(WIDTH)]
    + [GatedLayer(WIDTH) for _ in range(DEPTH)]
    + [keras.layers.Dense(1)],
    name="ice_dating",
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train - y_mean))
data = data.shuffle(8000, seed=SEED).batch(128, drop_remainder=True)
for epoch in range(10):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: mse {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0) + y_mean
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
