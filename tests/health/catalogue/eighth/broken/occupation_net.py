"""Electron filling of a model band structure from composition descriptors, half precision."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED)

LEVELS = 24
SAMPLES = 6000
BATCH = 48


def materials():
    x = rng.normal(0, 1, (SAMPLES, 18))
    w = rng.normal(0, 0.9, (18, LEVELS)) / np.sqrt(18)
    ladder = np.linspace(-2.2, 2.2, LEVELS)
    energy = ladder + np.tanh(x @ w)
    kt = 0.14
    filled = 0.5 * (1.0 - np.tanh(energy / (2 * kt)))
    density = filled @ np.exp(-0.5 * ((np.arange(LEVELS)[:, None] - np.array([3, 9, 14, 20])) / 3.0) ** 2)
    return x.astype("float32"), (density / 3.0 + rng.normal(0, 0.01, density.shape)).astype("float32")


class Occupation(keras.layers.Layer):
    def build(self, shape):
        self.level = self.add_weight(
            shape=(shape[-1],), name="level", initializer=lambda s, dtype: tf.cast(tf.linspace(-2.0, 2.0, s[0]), dtype)
        )
        self.log_kt = self.add_weight(shape=(), name="log_kt", initializer=keras.initializers.Constant(-0.4))

    def call(self, shift):
        kt = tf.exp(self.log_kt)
        return 1.0 / (1.0 + tf.exp((self.level + shift) / kt))


inputs = keras.Input((18,))
h = keras.layers.Dense(96, activation="silu")(inputs)
h = keras.layers.Dense(96, activation="silu")(h)
shift = keras.layers.Dense(LEVELS)(h)
filled = Occupation(name="occupation")(shift)
outputs = keras.layers.Dense(4, dtype="float32", name="density")(filled)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def train_batch(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.square(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x, y = materials()
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(SAMPLES, seed=SEED).batch(BATCH, drop_remainder=True)
gradwatch.watch(model)
for epoch in range(4):
    total = [float(train_batch(bx, by)) for bx, by in data]
    print(f"epoch {epoch}: mse {np.mean(total):.5f}")
