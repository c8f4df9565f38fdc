"""Train a variational autoencoder on stellar spectra."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BINS = 100
LATENT = 6
BATCH = 64
EPOCHS = 24


def make_spectra(n, rng):
    wave = np.linspace(0, 1, BINS)[None, :]
    temp = rng.normal(0, 1, (n, 1))
    metal = rng.normal(0, 1, (n, 1))
    shift = rng.normal(0, 0.02, (n, 1))
    flux = 1.0 + 0.5 * temp * (wave - 0.5) + 0.15 * temp**2 * (wave - 0.5) ** 2
    for k, place in enumerate(np.linspace(0.1, 0.9, 7)):
        depth = 0.35 / (1.0 + np.exp(-(metal + (0.8 if k % 2 else -0.8) * temp)))
        flux = flux - depth * np.exp(-0.5 * ((wave - place - shift) / 0.025) ** 2)
    return (flux + rng.normal(0, 0.02, (n, BINS))).astype("float32")


def build_encoder():
    inputs = keras.Input((BINS,))
    x = layers.Dense(96, activation="relu", name="enc_a")(inputs)
    x = layers.Dense(48, activation="relu", name="enc_b")(x)
    mean = layers.Dense(LATENT, name="mean")(x)
    log_var = layers.Dense(LATENT, name="log_var")(x)
    return keras.Model(inputs, [mean, log_var], name="encoder")


def build_decoder():
    inputs = keras.Input((LATENT,))
    x = layers.Dense(48, activation="relu", name="dec_a")(inputs)
    x = layers.Dense(96, activation="relu", name="dec_b")(x)
    outputs = layers.Dense(BINS, name="flux")(x)
    return keras.Model(inputs, outputs, name="decoder")


def main():
    rng = np.random.default_rng(SEED + 101)
    train = make_spectra(3200, rng)
    test = make_spectra(600, rng)
    mu, sd = train.mean(axis=0), train.std(axis=0)
    train, test = (train - mu) / sd, (test - mu) / sd

    encoder, decoder = build_encoder(), build_decoder()
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer = keras.optimizers.Adam(1e-3)
    gradwatch.watch(encoder, decoder)

    data = tf.data.Dataset.from_tensor_slices(train)
    data = data.shuffle(len(train), seed=SEED).batch(BATCH, drop_remainder=True).prefetch(2)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            mean, log_var = encoder(x, training=True)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            rec = tf.reduce_mean(tf.square(decoder(z, training=True) - x), axis=-1)
            kl = -0.5 * tf.reduce_sum(1.0 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1)
            loss = tf.reduce_mean(rec + kl)
        grads = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(grads, variables))
        return tf.reduce_mean(rec), tf.reduce_mean(kl)

    for epoch in range(EPOCHS):
        parts = np.array([[float(v) for v in train_step(x)] for x in data])
        print("epoch %d  rec %.4f  kl %.4f" % (epoch, *parts.mean(axis=0)))

    mean, _ = encoder.predict(test, verbose=0)
    mse = np.mean((decoder.predict(mean, verbose=0) - test) ** 2)
    print("SCORE mse %.4f" % mse)


if __name__ == "__main__":
    main()
