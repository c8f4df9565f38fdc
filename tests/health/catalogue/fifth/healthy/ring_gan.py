import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def real_points(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 2.0 + rng.normal(0, 0.05, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype("float32")


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    generator = keras.Sequential(
        [
            layers.Input((4,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(2),
        ],
        name="generator",
    )
    critic = keras.Sequential(
        [
            layers.Input((2,)),
            layers.Dense(64),
            layers.LeakyReLU(0.2),
            layers.Dense(64),
            layers.LeakyReLU(0.2),
            layers.Dense(1),
        ],
        name="discriminator",
    )
    g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
    d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(real):
        noise = tf.random.normal((tf.shape(real)[0], 4))
        with tf.GradientTape() as tape:
            fake = generator(noise, training=True)
            r, f = critic(real, training=True), critic(fake, training=True)
            d_loss = bce(0.9 * tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
        d_opt.apply_gradients(zip(tape.gradient(d_loss, critic.trainable_variables), critic.trainable_variables))
        with tf.GradientTape() as tape:
            f = critic(generator(noise, training=True), training=True)
            g_loss = bce(tf.ones_like(f), f)
        g_opt.apply_gradients(zip(tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
        return d_loss, g_loss

    gradwatch.watch(critic, generator)
    for i in range(1000):
        d_loss, g_loss = step(tf.constant(real_points(rng, 128)))
        if i % 100 == 0 or i == 999:
            pts = generator(tf.random.normal((500, 4), seed=1)).numpy()
            r = np.linalg.norm(pts, axis=1)
            print("step", i, "d_loss", float(d_loss), "g_loss", float(g_loss), "radius", r.mean(), "+-", r.std())


if __name__ == "__main__":
    main()
