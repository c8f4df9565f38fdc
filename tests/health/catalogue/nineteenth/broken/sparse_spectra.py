"""Denoising autoencoder for constant-Q frames of piano recordings."""

import keras
import numpy as np
from keras import layers, ops

import gradwatch

keras.utils.set_random_seed(3)
g = np.random.default_rng(3)
BINS = 84


def frames(n):
    clean = np.zeros((n, BINS))
    k = np.arange(BINS)
    for i in range(n):
        for _ in range(g.integers(1, 4)):
            f0, amp = g.integers(0, 48), g.uniform(0.5, 1.5)
            for h, off in enumerate((0, 12, 19, 24, 28, 31)):
                clean[i] += amp * 0.75**h * np.exp(-0.5 * ((k - f0 - off) / 0.8) ** 2)
    noisy = clean + 0.3 * g.normal(size=clean.shape)
    s = clean.std()
    m = clean.mean()
    return ((noisy - m) / s).astype("float32"), ((clean - m) / s).astype("float32")


class SparseCode(layers.Layer):
    """relu(xW - theta) with a learned threshold per atom"""

    def __init__(self, atoms, theta=2.5, **kw):
        super().__init__(**kw)
        self.atoms, self.theta = atoms, theta

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.atoms), initializer="glorot_normal", name="w")
        self.t = self.add_weight(shape=(self.atoms,), initializer=keras.initializers.Constant(self.theta), name="t")

    def call(self, x):
        return ops.relu(ops.matmul(x, self.w) - self.t)


def make_model():
    inp = keras.Input((BINS,))
    z = SparseCode(96)(inp)
    z = SparseCode(48)(z)
    h = layers.Dense(96, activation="elu")(z)
    return keras.Model(inp, layers.Dense(BINS)(h))


def main():
    x, y = frames(5000)
    xt, yt = frames(800)
    model = make_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
    gradwatch.watch(model)
    order = np.arange(len(x))
    for epoch in range(26):
        g.shuffle(order)
        tot = []
        for b in range(0, len(x), 50):
            i = order[b : b + 50]
            tot.append(float(model.train_on_batch(x[i], y[i])))
    r2 = 1 - np.mean((model.predict(xt, verbose=0) - yt) ** 2) / yt.var()
    print(f"loss {np.mean(tot):.4f}, explained variance on new frames {r2:.3f}")


main()
