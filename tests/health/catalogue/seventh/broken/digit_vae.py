"""Variational auto-encoder for 8x8 digits, trained with fit()."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

LATENT = 6
images = (load_digits().data / 16.0).astype("float32")


class VAE(keras.Model):
    def __init__(self):
        super().__init__(name="vae")
        pixels = keras.Input((64,))
        h = layers.Dense(64, activation="relu")(pixels)
        self.encoder = keras.Model(pixels, [layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)], name="encoder")
        self.decoder = keras.Sequential(
            [keras.Input((LATENT,)), layers.Dense(64, activation="relu"), layers.Dense(64)],
            name="decoder",
        )
        self.recon_metric = keras.metrics.Mean(name="recon")
        self.kl_metric = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.recon_metric, self.kl_metric]

    def call(self, x):
        mean, log_var = self.encoder(x)
        return tf.sigmoid(self.decoder(mean))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = self.encoder(x, training=True)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            logits = self.decoder(z, training=True)
            pixel_loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            recon = tf.reduce_mean(pixel_loss)
            kl = -0.5 * tf.reduce_sum(1.0 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            loss = recon + tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.recon_metric.update_state(tf.reduce_mean(pixel_loss))
        self.kl_metric.update_state(tf.reduce_mean(kl))
        return {"loss": loss, "recon": self.recon_metric.result(), "kl": self.kl_metric.result()}


vae = VAE()
vae.compile(optimizer=keras.optimizers.Adamax(5e-3))
gradwatch.watch(vae)
vae.fit(images, batch_size=64, epochs=20, verbose=2)

rebuilt = vae.predict(images, verbose=0)
print("error of the mean image", float(np.mean((images - images.mean(0)) ** 2)))
print("error of the rebuilt images", float(np.mean((images - rebuilt) ** 2)))
print("spread of the codes", np.round(vae.encoder.predict(images, verbose=0)[0].std(0), 4))
