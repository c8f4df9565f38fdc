import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

LATENT = 8


def mlp(sizes, name):
    return keras.Sequential(
        [keras.layers.Dense(s, activation="relu", name=f"{name}_{i}") for i, s in enumerate(sizes)], name=name
    )


class GlyphVAE(keras.Model):
    def __init__(self, latent=LATENT):
        super().__init__(name="glyph_vae")
        self.enc = mlp([96, 64], "enc")
        self.to_mean = keras.layers.Dense(latent, name="to_mean")
        self.to_logvar = keras.layers.Dense(latent, name="to_logvar")
        self.dec = mlp([64, 96], "dec")
        self.to_pixels = keras.layers.Dense(64, name="to_pixels")

    def encode(self, x):
        h = self.enc(x)
        return self.to_mean(h), self.to_logvar(h)

    def decode(self, z):
        return self.to_pixels(self.dec(z))

    def call(self, x, training=False):
        mean, logvar = self.encode(x)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decode(z), mean, logvar


class ElboLoss:
    def __init__(self, beta=1.0):
        self.beta = beta

    def reconstruction(self, x, logits):
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits))

    def divergence(self, mean, logvar):
        return tf.reduce_mean(-0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1))

    def __call__(self, x, logits, mean, logvar):
        rec, kl = self.reconstruction(x, logits), self.divergence(mean, logvar)
        return {"rec": rec, "kl": kl, "total": rec + self.beta * kl}


class Trainer:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion

    @tf.function
    def train_step(self, x):
        with tf.GradientTape() as tape:
            losses = self.criterion(x, *self.model(x, training=True))
        grads = tape.gradient(losses["total"], self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return losses

    def run(self, dataset, epochs, watch):
        for epoch in range(epochs):
            for x in dataset:
                losses = self.train_step(x)
                watch.log(loss=losses["total"], rec=losses["rec"], kl=losses["kl"])
            if epoch % 5 == 0:
                print(epoch, {k: round(float(v), 4) for k, v in losses.items()})


def main():
    x = (load_digits().data / 16.0).astype("float32")
    x = x[np.random.default_rng(2).permutation(len(x))]
    train, test = x[:1400], x[1400:]
    model = GlyphVAE()
    model(test[:2])
    watch = gradwatch.watch(model)
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1400, seed=SEED).batch(50)
    Trainer(model, keras.optimizers.Adam(2e-3), ElboLoss()).run(ds, 20, watch)
    logits, _, _ = model(test)
    recon = tf.sigmoid(logits).numpy()
    r2 = 1 - np.mean((recon - test) ** 2) / np.mean((test - train.mean(0)) ** 2)
    print("SCORE", float(r2))


if __name__ == "__main__":
    main()
