"""Variational autoencoder of 8x8 digits, KL weight ramped up over the first 250 steps."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)

pixels, labels = load_digits(return_X_y=True)
pixels = (pixels / 16.0).astype("float32")
x_train, x_test, y_train, y_test = train_test_split(pixels, labels, test_size=0.2, random_state=seed, stratify=labels)
LATENT = 6
SIGMA = 0.2  # standard deviation of the Gaussian likelihood of a pixel

encoder = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(128, activation="gelu"),
        layers.Dense(64, activation="gelu"),
        layers.Dense(2 * LATENT),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64, activation="gelu"),
        layers.Dense(128, activation="gelu"),
        layers.Dense(64),
    ],
    name="decoder",
)


class DigitVAE(keras.Model):
    def __init__(self, encoder, decoder, ramp_steps):
        super().__init__()
        self.encoder, self.decoder, self.ramp_steps = encoder, decoder, ramp_steps
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.recon_tracker = keras.metrics.Mean(name="recon")
        self.kl_tracker = keras.metrics.Mean(name="kl")
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker, self.recon_tracker, self.kl_tracker]

    def call(self, x):
        mean, _ = ops.split(self.encoder(x), 2, axis=-1)
        return ops.sigmoid(self.decoder(mean))

    def terms(self, x):
        mean, log_var = ops.split(self.encoder(x), 2, axis=-1)
        log_var = ops.clip(log_var, -10.0, 10.0)
        noise = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        logits = self.decoder(mean + ops.exp(0.5 * log_var) * noise)
        recon = ops.sum(ops.square(x - ops.sigmoid(logits)), axis=-1) / (2 * SIGMA**2)
        kl = 0.5 * ops.sum(ops.square(mean) + ops.exp(log_var) - 1.0 - log_var, axis=-1)
        return ops.mean(recon), ops.mean(kl)

    def train_step(self, x):
        ramp = ops.minimum(1.0, ops.cast(self.optimizer.iterations, "float32") / self.ramp_steps)
        with tf.GradientTape() as tape:
            recon, kl = self.terms(x)
            loss = recon + ramp * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for tracker, value in zip(self.metrics, (loss, recon, kl)):
            tracker.update_state(value)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, x):
        recon, kl = self.terms(x)
        for tracker, value in zip(self.metrics, (recon + kl, recon, kl)):
            tracker.update_state(value)
        return {m.name: m.result() for m in self.metrics}


vae = DigitVAE(encoder, decoder, ramp_steps=250.0)
vae.compile(optimizer=keras.optimizers.Adamax(4e-3))
gradwatch.watch(vae)
vae.fit(x_train, batch_size=64, epochs=32, verbose=2, validation_data=(x_test,), validation_freq=8)

final = vae.evaluate(x_test, verbose=0, return_dict=True)
mu_train = encoder.predict(x_train, verbose=0)[:, :LATENT]
mu_test = encoder.predict(x_test, verbose=0)[:, :LATENT]
knn = KNeighborsClassifier(5).fit(mu_train, y_train).score(mu_test, y_test)
mean_image = np.mean(np.sum((x_test - x_train.mean(0)) ** 2, 1)) / (2 * SIGMA**2)
print(
    f"FINAL -ELBO {final['loss']:.2f} recon {final['recon']:.2f} kl {final['kl']:.2f} "
    f"(mean image alone {mean_image:.2f}); active dims {(mu_test.std(0) > 0.3).sum()}/{LATENT}; "
    f"5-NN digit accuracy in latent space {knn:.4f}"
)
