import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

NOISE, BATCH, STEPS = 8, 128, 1500
rng = np.random.default_rng(SEED)


def measured(n):
    speed = rng.gamma(6.0, 0.25, n)
    angle = rng.normal(0.8, 0.5, n)
    return np.stack([speed * np.cos(angle) + 1, speed * np.sin(angle) - 1], 1).astype("float32")


data = measured(20000)


def build_generator():
    return keras.Sequential(
        [
            keras.Input((NOISE,)),
            layers.Dense(48),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dense(48),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dense(2),
        ],
        name="generator",
    )


def build_discriminator():
    return keras.Sequential(
        [
            keras.Input((2,)),
            layers.Dense(64),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dense(64),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dense(1, activation="sigmoid"),
        ],
        name="discriminator",
    )


generator = build_generator()
discriminator = build_discriminator()
discriminator.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5))

z = keras.Input((NOISE,))
discriminator.trainable = False
combined = keras.Model(z, discriminator(generator(z)))
combined.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(5e-4, beta_1=0.5))
gradwatch.watch(discriminator, combined)

ones, zeros = np.ones((BATCH, 1), "float32"), np.zeros((BATCH, 1), "float32")
for step in range(STEPS):
    real = data[rng.integers(0, len(data), BATCH)]
    noise = rng.normal(size=(BATCH, NOISE)).astype("float32")
    fake = generator(noise).numpy()
    discriminator.trainable = True
    d_loss = discriminator.train_on_batch(np.concatenate([real, fake]), np.concatenate([ones, zeros]))
    noise = rng.normal(size=(BATCH, NOISE)).astype("float32")
    discriminator.trainable = False
    g_loss = combined.train_on_batch(noise, ones)
    if step % 250 == 0:
        print(f"{step} d_loss {float(d_loss):.3f} g_loss {float(g_loss):.3f}")


def energy_distance(a, b):
    def d(u, v):
        return np.mean(np.linalg.norm(u[:, None] - v[None], axis=-1))

    return 2 * d(a, b) - d(a, a) - d(b, b)


sample = generator(rng.normal(size=(1000, NOISE)).astype("float32")).numpy()
print("SCORE", -float(energy_distance(sample, measured(1000))))
