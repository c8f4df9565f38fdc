import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def real_pulses(n):
    t = np.linspace(-1, 1, 32)[None, :]
    center = rng.normal(0, 0.25, (n, 1))
    width = rng.uniform(0.15, 0.3, (n, 1))
    height = rng.uniform(0.6, 0.95, (n, 1))
    return (height * np.exp(-((t - center) ** 2) / (2 * width**2))).astype("float32")


LATENT = 8
generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="tanh"),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((32,)),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(1),
    ],
    name="discriminator",
)


class PulseGAN(keras.Model):
    def __init__(self, gen, disc):
        super().__init__()
        self.gen, self.disc = gen, disc

    def compile(self, gen_opt, disc_opt):
        super().compile()
        self.gen_opt, self.disc_opt = gen_opt, disc_opt
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = self.gen(tf.random.normal((n, LATENT)), training=True)
        with tf.GradientTape() as tape:
            real_logit = self.disc(real, training=True)
            fake_logit = self.disc(fake, training=True)
            d_loss = self.bce(tf.ones_like(real_logit) * 0.9, real_logit) + self.bce(
                tf.zeros_like(fake_logit), fake_logit
            )
        grads = tape.gradient(d_loss, self.disc.trainable_variables)
        self.disc_opt.apply_gradients(zip(grads, self.disc.trainable_variables))

        noise = tf.random.normal((n, LATENT))
        with tf.GradientTape() as tape:
            fake_logit = self.disc(self.gen(noise, training=True), training=True)
            g_loss = self.bce(tf.ones_like(fake_logit), fake_logit)
        grads = tape.gradient(g_loss, self.gen.trainable_variables)
        self.gen_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss}


model = PulseGAN(generator, discriminator)
model.compile(keras.optimizers.Adam(5e-4, beta_1=0.5), keras.optimizers.Adam(5e-4, beta_1=0.5))
watch = gradwatch.watch(model)

pulses = real_pulses(6400)
train = tf.data.Dataset.from_tensor_slices(pulses).shuffle(6400, seed=SEED).batch(64)
model.fit(train, epochs=25, verbose=2)


def mean_dist(a, b):
    return np.mean(np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)))


fake = generator.predict(np.random.normal(size=(400, LATENT)).astype("float32"), verbose=0)
held = real_pulses(400)
energy = 2 * mean_dist(fake, held) - mean_dist(fake, fake) - mean_dist(held, held)
print("SCORE", float(-energy))
