"""Reflectance spectra of kelp canopies, compressed to six numbers by a variational autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BANDS, LATENT = 96, 6
EPOCHS, BATCH = 30, 100


def sample_spectra(n):
    grid = np.linspace(0, 1, BANDS)
    chlorophyll, fucoxanthin, water = rng.normal(size=(3, n, 1))
    edge = 0.65 + 0.05 * rng.normal(size=(n, 1))
    s = 1.2 * chlorophyll * np.exp(-(((grid - 0.45) / 0.08) ** 2))
    s += 1.0 * fucoxanthin * np.exp(-(((grid - 0.25) / 0.10) ** 2))
    s += 0.8 * water * np.sin(4 * np.pi * grid)
    s += 1.5 / (1 + np.exp(-(grid - edge) / 0.02))
    return (s + 0.15 * rng.normal(size=s.shape)).astype("float32")


raw = sample_spectra(7000)
center, spread = raw[:6000].mean(0), raw[:6000].std(0)
data = (raw - center) / spread
train, test = data[:6000], data[6000:]

encoder = keras.Sequential(
    [
        keras.layers.Input((BANDS,)),
        keras.layers.Dense(128, activation="gelu"),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(2 * LATENT),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.layers.Input((LATENT,)),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(128, activation="gelu"),
        keras.layers.Dense(BANDS),
    ],
    name="decoder",
)

optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder, decoder)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(encoder(batch, training=True), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        recon = decoder(z, training=True)
        recon_loss = tf.reduce_mean(tf.square(batch - recon))
        kl = -0.5 * tf.reduce_sum(1.0 + logvar - tf.square(mean) - tf.exp(logvar), axis=-1)
        loss = recon_loss + tf.reduce_mean(kl)
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss, recon_loss


dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(len(train)).batch(BATCH, drop_remainder=True)
for epoch in range(EPOCHS):
    logs = np.array([[float(v) for v in train_step(b)] for b in dataset])
    if epoch % 3 == 0 or epoch == EPOCHS - 1:
        total, rec = logs.mean(0)
        print(f"epoch {epoch:3d}  loss {total:.4f}  reconstruction {rec:.4f}")

codes = encoder(test)[:, :LATENT]
back = decoder(codes).numpy()
print("SCORE explained_variance", round(float(1 - np.mean((test - back) ** 2) / test.var()), 4))
