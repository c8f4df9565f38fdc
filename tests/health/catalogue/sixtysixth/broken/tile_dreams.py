import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

LATENT = 8


class Sampler(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(SEED)

    def call(self, inputs):
        mean, log_var = inputs
        noise = keras.random.normal(tf.shape(mean), seed=self.seed_generator)
        return mean + tf.exp(0.5 * log_var) * noise


class TileVAE(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.enc_hidden = layers.Dense(128, activation="relu", name="enc_hidden")
        self.enc_hidden2 = layers.Dense(64, activation="relu", name="enc_hidden2")
        self.to_mean = layers.Dense(LATENT, name="to_mean")
        self.to_log_var = layers.Dense(LATENT, name="to_log_var")
        self.sampler = Sampler(name="sampler")
        self.dec_hidden = layers.Dense(128, activation="relu", name="dec_hidden")
        self.dec_out = layers.Dense(64, name="dec_out")

    def call(self, x):
        h = self.enc_hidden2(self.enc_hidden(x))
        mean, log_var = self.to_mean(h), self.to_log_var(h)
        kl = 0.5 * tf.reduce_sum(tf.exp(log_var) + tf.square(mean) - 1.0 - log_var, axis=-1)
        self.add_loss(0.05 * tf.reduce_mean(kl))
        z = self.sampler([mean, log_var])
        return self.dec_out(self.dec_hidden(z))


def load():
    pixels = load_digits().data.astype("float32")
    order = np.random.default_rng(SEED).permutation(len(pixels))
    pixels = pixels[order]
    grey = pixels / 16.0 * 255.0
    return grey[:1400], grey[1400:]


train, test = load()
scale = 255.0
target_train, target_test = train / scale, test / scale

model = TileVAE()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=lambda y, p: tf.reduce_sum(tf.square(y - p), axis=-1),
)
model(train[:1])
gradwatch.watch(model)
model.fit(train, target_train, batch_size=64, epochs=30, verbose=0)

recon = model.predict(test, verbose=0)
err = np.mean((recon - target_test) ** 2) / np.mean((target_train.mean(0) - target_test) ** 2)
print("SCORE", float(1.0 - err))
