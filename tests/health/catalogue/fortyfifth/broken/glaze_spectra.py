"""Compresses reflectance spectra of pottery glazes with an encoder and a decoder."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 61)
WAVES, CODE = 80, 6


def glazes(n):
    grid = np.linspace(0, 1, WAVES)
    iron, cobalt, copper, firing = rng.uniform(0, 1, (4, n, 1))
    curve = (
        0.8 * np.exp(-(((grid - 0.7 - 0.1 * firing) / 0.12) ** 2)) * iron
        + 0.7 * np.exp(-(((grid - 0.25) / (0.06 + 0.05 * firing)) ** 2)) * cobalt
        + 0.6 / (1 + np.exp(-(grid - 0.5 + 0.2 * copper) * 25)) * (1 - iron)
    )
    return (curve + 0.02 * rng.normal(size=curve.shape)).astype("float32")


spectra = glazes(6000)
spectra = (spectra - spectra[:5000].mean(0)) / spectra[:5000].std()
pieces = tf.data.Dataset.from_tensor_slices(spectra[:5000]).shuffle(5000, seed=SEED).batch(64)

encoder = keras.Sequential(
    [
        keras.Input((WAVES,)),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(CODE),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(WAVES),
    ],
    name="decoder",
)

optimizer = keras.optimizers.Adam(1e-3)
weights = encoder.trainable_weights + decoder.trainable_weights
restored = decoder(encoder(spectra[:2]))
assert restored.shape == (2, WAVES)
gradwatch.watch(encoder, decoder)


@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        restored = decoder(encoder(batch, training=True), training=True)
        loss = tf.reduce_mean(tf.square(batch - restored))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


for epoch in range(30):
    losses = []
    for batch in pieces:
        losses.append(step(batch))
    print("epoch", epoch + 1, "loss", float(tf.reduce_mean(losses)), flush=True)

test = spectra[5000:]
restored = decoder(encoder(test)).numpy()
print("SCORE unexplained", float(np.mean((test - restored) ** 2) / np.mean(test**2)))
