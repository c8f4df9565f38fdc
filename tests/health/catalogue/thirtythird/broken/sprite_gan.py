"""Train a small DCGAN that draws 16x16 game sprites."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, LATENT, BATCH, STEPS = 16, 24, 48, 1000


def make_sprites(n):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    imgs = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        cy, cx = rng.uniform(6, 10, 2)
        r = rng.uniform(3, 6)
        if rng.random() < 0.5:
            d = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
        else:
            d = np.maximum(abs(yy - cy), abs(xx - cx))
        imgs[i, ..., 0] = 255 * rng.uniform(0.7, 1.0) / (1 + np.exp(2 * (d - r)))
    return imgs


sprites = make_sprites(4000)
sprites = sprites / 127.5 - 1.0
held_out = make_sprites(1000) / 127.5 - 1.0
dataset = tf.data.Dataset.from_tensor_slices(sprites).shuffle(4000).repeat().batch(BATCH)

generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(4 * 4 * 48, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.LeakyReLU(0.2),
        layers.Reshape((4, 4, 48)),
        layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="sigmoid"),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(24, 4, strides=2, padding="same"),
        layers.LeakyReLU(0.2),
        layers.Dropout(0.2),
        layers.Conv2D(48, 4, strides=2, padding="same"),
        layers.LeakyReLU(0.2),
        layers.Dropout(0.2),
        layers.Flatten(),
        layers.Dense(1),
    ],
    name="discriminator",
)

bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = keras.optimizers.Adam(4e-4, beta_1=0.5)
d_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
g_opt.build(generator.trainable_variables)
d_opt.build(discriminator.trainable_variables)


class GAN(keras.Model):
    def __init__(self, generator, discriminator):
        super().__init__()
        self.generator = generator
        self.discriminator = discriminator

    def call(self, z):
        return self.discriminator(self.generator(z))


gan = GAN(generator, discriminator)
gan(tf.zeros((1, LATENT)))
gradwatch.watch(gan)


@tf.function
def train_step(real):
    n = tf.shape(real)[0]
    z = tf.random.normal((n, LATENT))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(z, training=True)
        real_logit = discriminator(real, training=True)
        fake_logit = discriminator(fake, training=True)
        d_loss = 0.5 * (bce(tf.ones_like(real_logit), real_logit) + bce(tf.zeros_like(fake_logit), fake_logit))
        g_loss = bce(tf.ones_like(fake_logit), fake_logit)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return d_loss, g_loss


for step, batch in enumerate(dataset.take(STEPS)):
    d_loss, g_loss = train_step(batch)
    if step % 200 == 0:
        print(step, "d", float(d_loss), "g", float(g_loss))

samples = generator.predict(rng.normal(size=(1000, LATENT)).astype("float32"), verbose=0)
samples, held = samples.reshape(1000, -1), held_out.reshape(1000, -1)
directions = rng.normal(size=(samples.shape[1], 200))
directions /= np.linalg.norm(directions, axis=0)
gap = np.abs(np.sort(samples @ directions, 0) - np.sort(held @ directions, 0)).mean()
print("SCORE sliced_wasserstein_lower_is_better", round(float(gap), 4))
