"""Denoising autoencoder over plot surveys (Hellinger abundance of 80 plant species)."""

import keras
import numpy as np
from keras import layers, regularizers

import gradwatch


def hellinger(counts):
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1.0)
    return np.sqrt(share).astype("float32")


class Plots:
    """Species answer to four hidden gradients with bell curves."""

    def __init__(self, species=80, seed=52):
        self.rng = np.random.default_rng(seed)
        self.opt = self.rng.uniform(-2, 2, (species, 4))
        self.tol = self.rng.uniform(1.2, 2.5, (species, 4))
        self.top = self.rng.uniform(8, 80, species)

    def survey(self, n):
        site = self.rng.uniform(-2, 2, (n, 1, 4))
        mu = self.top * np.exp(-(((site - self.opt) / self.tol) ** 2).sum(-1) / 2)
        return hellinger(self.rng.poisson(mu)), hellinger(mu)


def autoencoder(species, code=24):
    i = keras.Input((species,))
    h = layers.GaussianNoise(0.01)(i)
    h = layers.Dense(64, activation="elu")(h)
    z = layers.Dense(code, activity_regularizer=regularizers.L1(5e-3), name="code")(h)
    h = layers.Dense(64, activation="elu")(z)
    return keras.Model(i, layers.Dense(species)(h))


def main():
    keras.utils.set_random_seed(52)
    plots = Plots()
    seen, clean = plots.survey(6000)
    seen_v, clean_v = plots.survey(1500)
    model = autoencoder(seen.shape[1])
    model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss="mse")
    gradwatch.watch(model)
    h = model.fit(seen, clean, batch_size=64, epochs=20, verbose=0)
    rec = model.predict(seen_v, verbose=0)
    ev = 1 - ((rec - clean_v) ** 2).sum() / ((clean_v - clean_v.mean(0)) ** 2).sum()
    print(f"loss {h.history['loss'][-1]:.4f}  held-out explained variance {ev:.3f}")


if __name__ == "__main__":
    main()
