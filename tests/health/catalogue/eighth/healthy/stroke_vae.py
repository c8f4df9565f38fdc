import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIZE, CODE = 14, 4


def draw(n):
    """Ellipses seen by a small sensor: centre, radius and tilt vary."""
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] + 0.5
    cx, cy = rng.uniform(5, 9, (2, n, 1, 1))
    rad = rng.uniform(2.0, 4.0, (n, 1, 1))
    ang = rng.uniform(0, np.pi, (n, 1, 1))
    u = (xx - cx) * np.cos(ang) + (yy - cy) * np.sin(ang)
    v = -(xx - cx) * np.sin(ang) + (yy - cy) * np.cos(ang)
    d = np.sqrt((u / 1.4) ** 2 + (v * 1.4) ** 2)
    p = 1 / (1 + np.exp(3.0 * (d - rad)))
    return (rng.uniform(size=p.shape) < p).astype("float32")[..., None]


class Vae(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.Sequential(
            [
                layers.Conv2D(12, 3, strides=2, padding="same", activation="elu"),
                layers.Conv2D(24, 3, strides=2, padding="same", activation="elu"),
                layers.Flatten(),
                layers.Dense(64, activation="elu"),
                layers.Dense(2 * CODE),
            ]
        )
        self.dec = keras.Sequential(
            [
                layers.Dense(64, activation="elu"),
                layers.Dense(7 * 7 * 12, activation="elu"),
                layers.Reshape((7, 7, 12)),
                layers.Conv2DTranspose(12, 3, strides=2, padding="same", activation="elu"),
                layers.Conv2D(1, 3, padding="same"),
            ]
        )
        self.beta = self.add_weight(shape=(), initializer="zeros", trainable=False, name="beta")
        self.means = {k: keras.metrics.Mean(name=k) for k in ("loss", "nll", "kl")}

    @property
    def metrics(self):
        return list(self.means.values())

    def call(self, x, training=False):
        mean, logvar = ops.split(self.enc(x, training=training), 2, axis=-1)
        z = mean + ops.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.dec(z, training=training), mean, logvar

    def parts(self, x, training):
        logits, mean, logvar = self(x, training=training)
        nll = ops.mean(ops.sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=(1, 2, 3)))
        kl = ops.mean(-0.5 * ops.sum(1.0 + logvar - ops.square(mean) - ops.exp(logvar), axis=-1))
        return nll, kl

    def train_step(self, x):
        with tf.GradientTape() as tape:
            nll, kl = self.parts(x, True)
            loss = nll + self.beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for k, v in zip(("loss", "nll", "kl"), (loss, nll, kl)):
            self.means[k].update_state(v)
        return {k: m.result() for k, m in self.means.items()}


class CyclicBeta(keras.callbacks.Callback):
    def __init__(self, period):
        super().__init__()
        self.period, self.n = period, 0

    def on_train_batch_begin(self, batch, logs=None):
        phase = (self.n % self.period) / self.period
        self.model.beta.assign(min(1.0, 2.0 * phase))
        self.n += 1


images = draw(3200)
held = tf.constant(draw(400))
vae = Vae()
vae(held[:2])
vae.compile(optimizer=keras.optimizers.Adamax(4e-3))


def elbo():
    nll, kl = vae.parts(held, False)
    return round(float(nll + kl), 2), round(float(kl), 2)


print("held-out -ELBO, KL:", elbo())
gradwatch.watch(vae)
cb = CyclicBeta(250)
vae.fit(images, batch_size=64, epochs=10, verbose=2, callbacks=[cb])
print("held-out -ELBO, KL:", elbo())
