import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

CHANNELS = 30
FACTORS = 4
CODE = 4
STEPS = 900


def panel(n, seed):
    fixed = np.random.default_rng(7)
    mix = fixed.normal(size=(FACTORS, CHANNELS))
    bend = fixed.normal(size=(FACTORS, CHANNELS))
    rng = np.random.default_rng(seed)
    state = rng.normal(size=(n, FACTORS))
    x = state @ mix + 0.5 * np.tanh(state @ bend)
    x = x + 0.1 * rng.normal(size=x.shape)
    return (x / 2.2).astype("float32")


x_train = panel(4000, SEED + 1)
x_test = panel(1000, SEED + 2)

encoder = keras.Sequential(
    [
        keras.Input((CHANNELS,)),
        layers.Dense(48, activation="relu", name="enc_1"),
        layers.Dense(CODE, name="code"),
    ],
    name="encoder",
)

decoder = keras.Sequential(
    [
        keras.Input((CODE,)),
        layers.Dense(48, activation="relu", name="dec_1"),
        layers.Dense(CHANNELS, name="signal"),
    ],
    name="decoder",
)

autoencoder = keras.Sequential([encoder, decoder], name="autoencoder")
variables = encoder.trainable_variables
optimizer = keras.optimizers.Adam(3e-3)
optimizer.build(variables)

watch = gradwatch.watch(autoencoder)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        noisy = batch + tf.random.normal(tf.shape(batch), stddev=0.05)
        restored = decoder(encoder(noisy, training=True), training=True)
        loss = tf.reduce_mean(tf.square(restored - batch))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


batches = iter(tf.data.Dataset.from_tensor_slices(x_train).shuffle(4000, seed=SEED).repeat().batch(64))
for i in range(STEPS):
    loss = train_step(next(batches))
    watch.log(loss=loss)
    if i % 150 == 0:
        print("step", i, "loss", float(loss))

restored = autoencoder.predict(x_test, verbose=0)
print("SCORE", float(1 - np.mean((restored - x_test) ** 2) / np.var(x_test)))
