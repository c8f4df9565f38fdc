"""Remove shot noise from simulated fluorescence micrographs with a small convolutional autoencoder."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, N = 32, 1400


def cells(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    out = np.full((n, SIDE, SIDE), 12.0)
    for i in range(n):
        for _ in range(rng.integers(4, 9)):
            cy, cx = rng.uniform(0, SIDE, 2)
            s1, s2 = rng.uniform(1.5, 4.0, 2)
            t = rng.uniform(0, np.pi)
            u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
            v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
            out[i] += rng.uniform(20, 70) * np.exp(-0.5 * ((u / s1) ** 2 + (v / s2) ** 2))
    return out


clean = cells(N)
noisy = rng.poisson(clean) + rng.normal(0, 6.0, clean.shape)

n_train = 1150
mu, sd = clean[:n_train].mean(), clean[:n_train].std()


def standardise(counts):
    return ((counts - mu) / sd)[..., None].astype("float32")


x_train, y_train = standardise(noisy[:n_train]), standardise(clean[:n_train])
x_test, y_test = standardise(noisy[n_train:]), standardise(clean[n_train:])

inp = keras.Input((SIDE, SIDE, 1))
h1 = layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
h2 = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(h1)
h3 = layers.Conv2D(32, 3, padding="same", activation="relu")(h2)
up = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(h3)
h4 = layers.Concatenate()([up, h1])
h5 = layers.Conv2D(16, 3, padding="same", activation="relu")(h4)
out = layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h5)
model = keras.Model(inp, out)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=12, validation_data=(x_test, y_test), verbose=2)

restored = model.predict(x_test, verbose=0)[..., 0] * sd + mu
mse = np.mean((restored - clean[n_train:]) ** 2, axis=(1, 2))
psnr = 10 * np.log10(clean.max() ** 2 / mse)
print("SCORE psnr_db", round(float(psnr.mean()), 3))
