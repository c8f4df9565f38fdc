"""Variational autoencoder of daily solar production profiles."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS, LATENT = 96, 4
hours = np.linspace(0, 24, STEPS)


def make_days(n):
    peak = rng.uniform(0.4, 1.0, (n, 1))
    noon = rng.normal(12.5, 0.6, (n, 1))
    width = rng.uniform(2.0, 4.0, (n, 1))
    dip_at = rng.uniform(9, 16, (n, 1))
    dip = rng.beta(1, 2, (n, 1))
    clear = peak * np.exp(-0.5 * ((hours - noon) / width) ** 2)
    cloud = 1 - dip * np.exp(-0.5 * ((hours - dip_at) / 1.2) ** 2)
    return np.clip(clear * cloud + rng.normal(0, 0.02, (n, STEPS)), 0, 1).astype("float32")


train, test = make_days(5000), make_days(800)
dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(5000, seed=seed).batch(64, drop_remainder=True)

encoder_in = keras.Input((STEPS,))
h = layers.Dense(96, activation="relu")(encoder_in)
h = layers.Dense(48, activation="relu")(h)
encoder = keras.Model(encoder_in, [layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)], name="encoder")
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(96, activation="relu"),
        layers.Dense(STEPS, activation="sigmoid"),
    ],
    name="decoder",
)
optimizer = keras.optimizers.Adam(1e-3)
variables = encoder.trainable_variables + decoder.trainable_variables
gradwatch.watch(encoder, decoder)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        mean, log_var = encoder(x, training=True)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        recon = decoder(z, training=True)
        recon_loss = tf.reduce_mean(tf.square(x - recon) / 0.05)
        kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
        loss = recon_loss + tf.reduce_mean(kl)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return recon_loss, tf.reduce_mean(kl)


for epoch in range(15):
    logs = np.array([[float(v) for v in train_step(x)] for x in dataset])
    print(f"epoch {epoch + 1} recon {logs[:, 0].mean():.4f} kl {logs[:, 1].mean():.4f}")

mean, _ = encoder(test)
recon = decoder(mean).numpy()
print("SCORE explained_variance", float(1 - np.mean((recon - test) ** 2) / np.mean((test - train.mean(0)) ** 2)))
