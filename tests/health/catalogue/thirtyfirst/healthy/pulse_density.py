"""Predict the echo time of a pulse with its uncertainty, on random Fourier features that stay as drawn."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def echoes(n):
    x = rng.uniform(-1, 1, (n, 2)).astype("float32")
    t = 0.02 * np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1]) + 0.01 * x[:, 1]
    noise = 0.0005 + 0.003 * (x[:, 0] > 0)
    return x, (t + noise * rng.normal(size=n)).astype("float32")


x_train, y_train = echoes(4000)
x_test, y_test = echoes(1000)


class FourierFeatures(layers.Layer):
    def __init__(self, count, width, **kw):
        super().__init__(**kw)
        self.count, self.width = count, width

    def build(self, shape):
        self.freq = self.add_weight(
            shape=(shape[-1], self.count),
            trainable=False,
            name="freq",
            initializer=keras.initializers.RandomNormal(stddev=self.width),
        )

    def call(self, x):
        p = tf.matmul(x, self.freq)
        return tf.concat([tf.sin(p), tf.cos(p)], axis=-1)


inp = layers.Input((2,))
h = FourierFeatures(48, 2.0)(inp)
h = layers.Dense(32, activation="softplus")(h)
mean = layers.Dense(1, kernel_initializer="zeros", name="mean")(h)
log_scale = layers.Dense(
    1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(-3.0), name="log_scale"
)(h)
model = keras.Model(inp, layers.Concatenate()([mean, log_scale]))

optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(2e-3, 400, 0.6), clipnorm=1.0)
gradwatch.watch(model)


def laplace_nll(y, out):
    m, s = out[:, 0], out[:, 1]
    return tf.reduce_mean(tf.abs(y - m) * tf.exp(-s) + s + np.log(2.0))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = laplace_nll(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(80)
for epoch in range(25):
    losses = [float(train_step(x, y)) for x, y in data]
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} nll {np.mean(losses):.4f}")

out = model.predict(x_test, verbose=0)
print("SCORE r2", round(float(1 - np.mean((out[:, 0] - y_test) ** 2) / np.var(y_test)), 4))
