"""Trains a variational autoencoder of joint-angle curves during walking."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FRAMES, JOINTS, LATENT, BATCH, EPOCHS = 40, 3, 6, 64, 36
SIZE = FRAMES * JOINTS
phase = np.linspace(0, 2 * np.pi, FRAMES, endpoint=False)


def make_strides(count):
    speed = rng.uniform(0.6, 1.4, (count, 1))
    limp = rng.normal(0, 0.4, (count, 1))
    lag = rng.normal(0, 0.35, (count, 1))
    hip = 25 * speed * np.cos(phase + lag) + 8 * limp * np.sin(2 * phase)
    knee = 30 + 28 * speed * np.sin(phase + lag) + 12 * np.cos(2 * phase + limp)
    ankle = 10 * np.sin(2 * phase + lag) * (1 + limp) + 6 * speed
    curves = np.stack([hip, knee, ankle], -1) + rng.normal(0, 1.5, (count, FRAMES, JOINTS))
    return curves.reshape(count, SIZE).astype("float32")


x_train, x_test = make_strides(4000), make_strides(600)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

encoder = keras.Sequential(
    [
        keras.Input((SIZE,)),
        layers.Dense(96, activation="elu"),
        layers.Dense(48, activation="elu"),
        layers.Dense(2 * LATENT),
    ]
)
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(48, activation="elu"),
        layers.Dense(96, activation="elu"),
        layers.Dense(SIZE),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder, decoder)
variables = encoder.trainable_variables + decoder.trainable_variables


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        mu, logvar = tf.split(encoder(x, training=True), 2, axis=-1)
        z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
        y = decoder(z, training=True)
        recon = tf.reduce_mean(tf.reduce_sum(tf.square(x - y), axis=-1))
        kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + logvar - mu**2 - tf.exp(logvar), axis=-1))
        loss = recon + kl
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return recon, kl


strides = tf.data.Dataset.from_tensor_slices(x_train).shuffle(4000, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    parts = np.mean([[float(v) for v in train_step(x)] for x in strides], axis=0)
    print(f"epoch {epoch + 1} reconstruction {parts[0]:.3f} kl {parts[1]:.3f}")

mu = encoder.predict(x_test, batch_size=200, verbose=0)[:, :LATENT]
error = np.mean((decoder.predict(mu, batch_size=200, verbose=0) - x_test) ** 2)
print("SCORE unexplained", float(error / np.var(x_test)))
