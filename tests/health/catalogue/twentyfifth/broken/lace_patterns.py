"""A variational autoencoder for 12 x 12 patterns of bobbin lace."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, LATENT = 12, 6
yy, xx = np.mgrid[0:SIZE, 0:SIZE] / (SIZE - 1) * 2 - 1


def make(n):
    f = rng.uniform(1.0, 3.0, (n, 1, 1))
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    rosette = rng.uniform(0.2, 0.9, (n, 1, 1))
    stripes = np.sin(f * (np.cos(angle) * xx + np.sin(angle) * yy) * 2)
    ring = np.exp(-(((np.hypot(xx, yy) - rosette) / 0.2) ** 2))
    x = 0.5 + 0.3 * stripes + 0.2 * ring + rng.normal(scale=0.03, size=(n, SIZE, SIZE))
    return np.clip(x, 0, 1).reshape(n, -1).astype("float32")


x_train, x_test = make(6000), make(1000)

encoder_in = keras.Input((SIZE * SIZE,))
h = layers.Dense(128, activation="relu")(encoder_in)
h = layers.Dense(64, activation="relu")(h)
encoder = keras.Model(encoder_in, [layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)], name="encoder")
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(128, activation="relu"),
        layers.Dense(SIZE * SIZE, activation="sigmoid"),
    ],
    name="decoder",
)
optimizer = keras.optimizers.Adam(1e-3)
variables = encoder.trainable_variables + decoder.trainable_variables
gradwatch.watch(encoder, decoder)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        mean, log_var = encoder(x, training=True)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        recon = decoder(z, training=True)
        fit = tf.reduce_mean(keras.losses.binary_crossentropy(x, recon))
        kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
        loss = fit + tf.reduce_mean(kl)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(6000, seed=seed).batch(100)
for epoch in range(20):
    losses = [float(step(x)) for x in data]
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

mean, _ = encoder.predict(x_test, verbose=0)
recon = decoder.predict(mean, verbose=0)
r2 = 1 - np.mean((recon - x_test) ** 2) / np.mean((x_test - x_train.mean(0)) ** 2)
print("SCORE reconstruction_r2", round(float(r2), 4))
