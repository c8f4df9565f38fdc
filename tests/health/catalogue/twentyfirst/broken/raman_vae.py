"""VAE for Raman spectra of three-component mixtures."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BANDS, LATENT = 64, 4
grid = np.linspace(0, 1, BANDS)


def peak(c, w):
    return np.exp(-((grid - c) ** 2) / (2 * w**2))


components = np.stack(
    [
        peak(0.15, 0.03) + 0.6 * peak(0.55, 0.05),
        peak(0.35, 0.04) + 0.5 * peak(0.80, 0.03),
        0.8 * peak(0.65, 0.06) + 0.7 * peak(0.25, 0.02),
    ]
)
conc = rng.dirichlet([1.2, 1.2, 1.2], 4000)
shift = rng.normal(0, 0.3, (4000, 1)) * np.linspace(-1, 1, BANDS)
spectra = conc @ components + 0.3 * shift + rng.normal(0, 0.02, (4000, BANDS))
spectra = (spectra - spectra.mean(0)) / spectra.std(0)
spectra = spectra.astype("float32")
train, test = spectra[:3400], spectra[3400:]

enc_in = keras.Input((BANDS,))
h = layers.Dense(48, activation="relu")(enc_in)
h = layers.Dense(32, activation="relu")(h)
encoder = keras.Model(enc_in, [layers.Dense(LATENT, name="z_mean")(h), layers.Dense(LATENT, name="z_log_var")(h)])

dec_in = keras.Input((LATENT,))
h = layers.Dense(32, activation="relu")(dec_in)
h = layers.Dense(48, activation="relu")(h)
decoder = keras.Model(dec_in, layers.Dense(BANDS, name="spectrum")(h))

opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(encoder, decoder)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        z_mean, z_log_var = encoder(x, training=True)
        eps = tf.random.normal(tf.shape(z_mean))
        z = z_mean + tf.exp(0.5 * z_log_var) * eps
        x_hat = decoder(z, training=True)
        recon = tf.reduce_mean(keras.losses.mean_squared_error(x, x_hat))
        kl = -0.5 * tf.reduce_sum(1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var), axis=1)
        kl = tf.reduce_mean(kl)
        loss = recon + kl
    variables = encoder.trainable_variables + decoder.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return recon, kl


for epoch in range(10):
    order = rng.permutation(len(train))
    logs = []
    for i in range(0, len(train) - 63, 64):
        logs.append([float(v) for v in train_step(tf.constant(train[order[i : i + 64]]))])
    r, k = np.mean(logs, 0)
    print(f"epoch {epoch:2d} recon {r:.4f} kl {k:.4f}")

x_hat = decoder.predict(encoder.predict(test, verbose=0)[0], verbose=0)
print(f"reconstruction R2 {1 - np.mean((x_hat - test) ** 2) / test.var():.3f}")
