"""A variational autoencoder for small satellite patches of cloud cover."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 16
LATENT = 6
yy, xx = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1.0) * 2 - 1


def make_patch():
    kind = rng.integers(0, 3)
    angle = rng.uniform(0, np.pi)
    along = xx * np.cos(angle) + yy * np.sin(angle)
    if kind == 0:  # streets
        field = np.cos(rng.uniform(3.0, 5.0) * along + rng.uniform(0, 6.28)) * 1.8
    elif kind == 1:  # a front
        field = 6.0 * (along - rng.uniform(-0.6, 0.6))
    else:  # cells
        field = -1.5 * np.ones_like(xx)
        for _ in range(rng.integers(1, 4)):
            cx, cy = rng.uniform(-0.8, 0.8, 2)
            field += 4.5 * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / rng.uniform(0.05, 0.2))
    field += rng.normal(0, 0.35, field.shape)
    return 1 / (1 + np.exp(-1.6 * field))


patches = np.array([make_patch() for _ in range(2600)], "float32")[..., None]
train, test = patches[:2100], patches[2100:]


class Sampling(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.seed_generator = keras.random.SeedGenerator(SEED)

    def call(self, moments):
        mean, log_var = moments
        noise = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_var) * noise


def build_encoder():
    image = keras.Input((SIDE, SIDE, 1))
    h = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(image)
    h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Dense(64, activation="relu")(layers.Flatten()(h))
    mean = layers.Dense(LATENT, name="mean")(h)
    log_var = layers.Dense(LATENT, name="log_var")(h)
    return keras.Model(image, [mean, log_var, Sampling()([mean, log_var])], name="encoder")


def build_decoder():
    code = keras.Input((LATENT,))
    h = layers.Dense(4 * 4 * 32, activation="relu")(code)
    h = layers.Reshape((4, 4, 32))(h)
    h = layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(h)
    image = layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h)
    return keras.Model(code, image, name="decoder")


class CloudVAE(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.total = keras.metrics.Mean(name="loss")
        self.rebuild = keras.metrics.Mean(name="rebuild")
        self.divergence = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.rebuild, self.divergence]

    def call(self, images):
        mean, _, _ = self.encoder(images)
        return self.decoder(mean)

    def train_step(self, images):
        with tf.GradientTape() as tape:
            mean, log_var, code = self.encoder(images, training=True)
            rebuilt = self.decoder(code, training=True)
            per_pixel = keras.losses.binary_crossentropy(images, rebuilt)
            rebuild = ops.mean(ops.mean(per_pixel, axis=(1, 2)))
            kl = -0.5 * (1 + log_var - ops.square(mean) - ops.exp(log_var))
            kl = ops.mean(ops.sum(kl, axis=1))
            loss = rebuild + kl
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        self.total.update_state(loss)
        self.rebuild.update_state(rebuild)
        self.divergence.update_state(kl)
        return {metric.name: metric.result() for metric in self.metrics}


model = CloudVAE(build_encoder(), build_decoder())
model.build((None, SIDE, SIDE, 1))
model.compile(optimizer=keras.optimizers.Adam(3e-3))
watch = gradwatch.watch(model)
model.fit(train, epochs=7, batch_size=64, verbose=2)

rebuilt = model.predict(test, verbose=0)
explained = 1 - np.mean((rebuilt - test) ** 2) / np.mean((test - train.mean(0)) ** 2)
print(f"score {explained:.4f}")
