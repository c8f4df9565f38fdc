import os
from functools import partial

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

NOISE, CENTRE = 8, 2.5
dense = partial(keras.layers.Dense, activation="leaky_relu", kernel_initializer="he_normal")


def real_batches(n, batch, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1.5 + 0.05 * rng.normal(size=n)
    pts = np.stack([CENTRE + radius * np.cos(angle), CENTRE + radius * np.sin(angle)], axis=1).astype("float32")
    return tf.data.Dataset.from_tensor_slices(pts).shuffle(n, seed=SEED).repeat().batch(batch)


def build_generator():
    return keras.Sequential(
        [
            keras.Input((NOISE,)),
            dense(64, name="gen_1"),
            dense(64, name="gen_2"),
            keras.layers.Dense(2, name="gen_out"),
        ],
        name="generator",
    )


def build_discriminator():
    return keras.Sequential(
        [
            keras.Input((2,)),
            dense(64, name="disc_1"),
            dense(64, name="disc_2"),
            keras.layers.Dense(1, name="disc_out"),
        ],
        name="discriminator",
    )


bce = keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real, fake):
    return bce(tf.ones_like(real), real) + bce(tf.zeros_like(fake), fake)


def generator_loss(fake):
    return bce(tf.zeros_like(fake), fake)


class ForgerTrainer:
    def __init__(self, gen, disc, critic_steps=2):
        self.gen, self.disc, self.critic_steps = gen, disc, critic_steps
        self.g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
        self.d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)

    @tf.function
    def disc_step(self, real):
        z = tf.random.normal((tf.shape(real)[0], NOISE))
        fake = self.gen(z, training=True)
        with tf.GradientTape() as tape:
            loss = discriminator_loss(self.disc(real, training=True), self.disc(fake, training=True))
        grads = tape.gradient(loss, self.disc.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.disc.trainable_variables))
        return loss

    @tf.function
    def gen_step(self, n):
        z = tf.random.normal((n, NOISE))
        with tf.GradientTape() as tape:
            loss = generator_loss(self.disc(self.gen(z, training=True), training=True))
        grads = tape.gradient(loss, self.gen.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return loss


def ring_score(gen):
    pts = gen(np.random.default_rng(5).normal(size=(1000, NOISE)).astype("float32")).numpy()
    if not np.isfinite(pts).all():
        return -9.0
    pts = pts - CENTRE
    r = np.linalg.norm(pts, axis=1)
    sectors = np.unique(((np.arctan2(pts[:, 1], pts[:, 0]) + np.pi) / (2 * np.pi) * 12).astype(int).clip(0, 11))
    return float(len(sectors) / 12 - np.abs(r - 1.5).mean() / 1.5)


def main():
    gen, disc = build_generator(), build_discriminator()
    trainer = ForgerTrainer(gen, disc)
    watch = gradwatch.watch(gen, disc)
    data = iter(real_batches(5000, 64, 21))
    for step in range(800):
        for _ in range(trainer.critic_steps):
            d_loss = trainer.disc_step(next(data))
        g_loss = trainer.gen_step(64)
        watch.log(d_loss=d_loss, g_loss=g_loss)
        if step % 200 == 0:
            print(step, float(d_loss), float(g_loss))
    print("SCORE", ring_score(gen))


if __name__ == "__main__":
    main()
