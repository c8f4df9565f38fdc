"""Represent the relief of a seabed as a sine network (SIREN) fitted to scattered soundings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

OMEGA, WIDTH = 30.0, 64
waves = rng.normal(0, 5.0, (12, 2))
phases, heights = rng.uniform(0, 2 * np.pi, 12), rng.uniform(0.2, 0.6, 12)


def soundings(n):
    p = rng.uniform(-1, 1, (n, 2)).astype("float32")
    depth = (heights * np.sin(p @ waves.T + phases)).sum(1)
    return p, (depth + rng.normal(0, 0.05, n)).astype("float32")[:, None]


class SineLayer(layers.Layer):
    """sin(omega * (x W + b)) as in Sitzmann et al., 2020."""

    def __init__(self, units, is_first=False, **kw):
        super().__init__(**kw)
        self.units, self.is_first = units, is_first

    def build(self, shape):
        fan_in = shape[-1]
        bound = 1.0 / fan_in if self.is_first else np.sqrt(6.0 / fan_in)
        init = keras.initializers.RandomUniform(-bound, bound)
        self.w = self.add_weight(shape=(fan_in, self.units), initializer=init, name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        return tf.sin(OMEGA * (tf.matmul(x, self.w) + self.b))


x_train, y_train = soundings(6000)
x_test, y_test = soundings(1500)

model = keras.Sequential(
    [
        layers.Input((2,)),
        SineLayer(WIDTH, is_first=True),
        SineLayer(WIDTH),
        SineLayer(WIDTH),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(3e-4)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6000, seed=seed).batch(100)
for epoch in range(20):
    losses = [float(train_step(x, y)) for x, y in data]
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} mse {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
