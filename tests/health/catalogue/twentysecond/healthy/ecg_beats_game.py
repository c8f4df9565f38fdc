import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN, NOISE, BATCH, STEPS = 48, 12, 64, 350


def beats(n):
    t = np.linspace(0, 1, LEN)[None, :]

    def wave(c, w, a):
        return a * np.exp(-(((t - c) / w) ** 2))

    r = rng.normal(1.0, 0.12, (n, 1))
    x = (
        wave(0.2 + rng.normal(0, 0.01, (n, 1)), 0.05, 0.18)
        + wave(0.42, 0.02, -0.15 * r)
        + wave(0.46, 0.025, r)
        + wave(0.51, 0.025, -0.25 * r)
        + wave(0.75 + rng.normal(0, 0.02, (n, 1)), 0.08, rng.normal(0.35, 0.06, (n, 1)))
    )
    return (x + rng.normal(0, 0.02, x.shape)).astype("float32")


real = beats(4000)

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(96),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(LEN),
    ],
    name="generator",
)

discriminator = keras.Sequential(
    [
        keras.Input((LEN,)),
        layers.Dense(96),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(48),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ],
    name="discriminator",
)

bce = keras.losses.BinaryCrossentropy(from_logits=True)
discriminator.compile(optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5), loss=bce)

# combined model: only the generator is trained through it
discriminator.trainable = False
z = keras.Input((NOISE,))
gan = keras.Model(z, discriminator(generator(z)))
gan.compile(optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5), loss=bce)
gradwatch.watch(generator, discriminator)

labels = np.concatenate([np.ones((BATCH, 1)), np.zeros((BATCH, 1))]).astype("float32")
labels_d = labels * 0.9  # one-sided smoothing
for step in range(STEPS):
    noise = rng.normal(size=(BATCH, NOISE)).astype("float32")
    fake = generator.predict_on_batch(noise)
    batch = np.concatenate([real[rng.integers(0, len(real), BATCH)], fake])
    discriminator.trainable = True
    d_loss = discriminator.train_on_batch(batch, labels_d)

    noise = rng.normal(size=(BATCH, NOISE)).astype("float32")
    discriminator.trainable = False
    g_loss = gan.train_on_batch(noise, np.ones((BATCH, 1), "float32"))
    if step % 50 == 0:
        print(f"{step}: d {float(d_loss):.3f} g {float(g_loss):.3f}")

fake = generator.predict(rng.normal(size=(2000, NOISE)).astype("float32"), verbose=0)
held = beats(2000)
# sliced Wasserstein distance between generated and held-out beats
proj = rng.normal(size=(LEN, 200))
proj /= np.linalg.norm(proj, axis=0)
swd = np.mean(np.abs(np.sort(fake @ proj, 0) - np.sort(held @ proj, 0)))
print(f"sliced Wasserstein distance: {swd:.4f}")
