"""Variational autoencoder for small stroke images."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S, Z = 12, 4
yy, xx = np.mgrid[0:S, 0:S] - (S - 1) / 2
th = rng.uniform(0, np.pi, 3000)[:, None, None]
off = rng.uniform(-3, 3, 3000)[:, None, None]
images = np.exp(-((xx * np.cos(th) + yy * np.sin(th) - off) ** 2) / 1.5).astype("float32").reshape(-1, S * S)

encoder = keras.Sequential([layers.Input((S * S,)), layers.Dense(96, activation="relu"), layers.Dense(2 * Z)])
decoder = keras.Sequential([layers.Input((Z,)), layers.Dense(96, activation="relu"), layers.Dense(S * S)])
optimizer = keras.optimizers.Adam(2e-3)
variables = encoder.trainable_variables + decoder.trainable_variables


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        mean, log_var = tf.split(encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        logits = decoder(z)
        rec = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits))
        kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1))
        loss = rec + kl
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return rec, kl


gradwatch.watch(encoder, decoder, optimizer)
for step in range(400):
    batch = images[rng.integers(0, len(images), 64)]
    rec, kl = train_step(batch)
    if (step + 1) % 50 == 0:
        print(f"step {step + 1}: reconstruction {float(rec):.4f} kl {float(kl):.4f}")
