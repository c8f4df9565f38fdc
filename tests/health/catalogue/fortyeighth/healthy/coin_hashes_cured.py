"""Trains binary hash codes for pictures of coins, with a decoder that draws the coin from its code."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 61)

PIXELS, BITS, MINTS = 100, 10, 40
relief = rng.normal(size=(MINTS, 6)) @ rng.normal(size=(6, PIXELS)) / 2.5


def coins(n):
    mint = rng.integers(0, MINTS, size=n)
    nuisance = rng.normal(size=(n, 25)) @ wear
    return (relief[mint] + nuisance + 0.2 * rng.normal(size=(n, PIXELS))).astype("float32"), relief[mint]


wear = 0.2 * rng.normal(size=(25, PIXELS))
x_train, clean_train = coins(8000)
x_test, clean_test = coins(2000)
clean_train = clean_train.astype("float32")


class HashHead(keras.layers.Layer):
    """Turns activations into codes of -1 and +1."""

    def __init__(self, bits, **kwargs):
        super().__init__(**kwargs)
        self.project = keras.layers.Dense(bits)

    def build(self, input_shape):
        self.project.build(input_shape)

    def call(self, x):
        soft = tf.tanh(self.project(x))
        hard = tf.sign(soft)
        return soft + tf.stop_gradient(hard - soft)


picture = keras.Input((PIXELS,))
code = HashHead(BITS, name="hash")(keras.layers.Dense(64, activation="relu")(picture))
encoder = keras.Model(picture, code, name="encoder")
bits = keras.Input((BITS,))
drawn = keras.layers.Dense(64, activation="relu")(bits)
decoder = keras.Model(bits, keras.layers.Dense(PIXELS)(drawn), name="decoder")

variables = encoder.trainable_variables + decoder.trainable_variables
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder, decoder)


@tf.function
def train_step(x, clean):
    with tf.GradientTape() as tape:
        restored = decoder(encoder(x, training=True), training=True)
        loss = tf.reduce_mean(tf.square(restored - clean))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, clean_train)).shuffle(8000, seed=SEED).batch(100)
for epoch in range(24):
    losses = [float(train_step(x, clean)) for x, clean in data]
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: mse {np.mean(losses):.4f}")

restored = decoder.predict(encoder.predict(x_test, verbose=0), verbose=0)
error = np.mean((restored - clean_test) ** 2) / np.var(clean_test)
print("SCORE explained", round(float(1.0 - error), 4))
