import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED)


class InstanceNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        mean, var = tf.nn.moments(x, axes=[1, 2], keepdims=True)
        return (x - mean) / tf.sqrt(var + self.epsilon) * self.gamma + self.beta


def panels(n):
    yy, xx = np.mgrid[0:20, 0:20] / 20.0
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    freq = rng.uniform(3, 9, (n, 1, 1))
    clean = 0.5 + 0.4 * np.sin(2 * np.pi * freq * (np.cos(angle) * xx + np.sin(angle) * yy))
    off = rng.random(n) < 0.004
    noisy = np.clip(clean + rng.normal(0, 0.3, clean.shape), 0, None)
    clean[off], noisy[off] = 0.0, 0.0
    return noisy[..., None].astype("float32"), clean[..., None].astype("float32")


noisy_train, clean_train = panels(1200)
noisy_test, clean_test = panels(300)

inputs = keras.Input((20, 20, 1))
h = keras.layers.Conv2D(16, 5, padding="same", use_bias=False)(inputs)
h = keras.layers.Activation("relu")(InstanceNorm()(h))
h = keras.layers.Conv2D(16, 5, padding="same", use_bias=False)(h)
h = keras.layers.Activation("relu")(InstanceNorm()(h))
outputs = keras.layers.Conv2D(1, 3, padding="same", dtype="float32")(h)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(4e-3)
watch = gradwatch.watch(model)

LOSS_SCALE = 128.0
train = tf.data.Dataset.from_tensor_slices((noisy_train, clean_train)).shuffle(1200, seed=SEED).batch(32)


@tf.function
def step(noisy, clean):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(noisy, training=True) - clean))
        scaled = loss * LOSS_SCALE
    grads = tape.gradient(scaled, model.trainable_variables)
    grads = [g / LOSS_SCALE for g in grads]
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(7):
    for noisy, clean in train:
        loss = step(noisy, clean)
    print(epoch, float(loss))

pred = model.predict(noisy_test, verbose=0)
print("SCORE", float(1 - np.mean((pred - clean_test) ** 2) / np.var(clean_test)))
