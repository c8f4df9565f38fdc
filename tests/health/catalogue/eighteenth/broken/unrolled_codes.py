from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch


@dataclass
class Config:
    n: int = 6000
    samples: int = 80
    atoms: int = 96
    unroll: int = 3
    theta: float = 6.0
    epochs: int = 20
    seed: int = 13


cfg = Config()
keras.utils.set_random_seed(cfg.seed)


def heartbeats(n, seed):
    r = np.random.default_rng(seed)
    kind = r.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])
    t = np.linspace(-1, 1, cfg.samples)[None]
    c = lambda lo, hi: r.uniform(lo, hi, (n, 1))
    bump = lambda m, w, a: a * np.exp(-(((t - m) / w) ** 2))
    wide = np.where(kind == 1, 2.0, 1.0)[:, None]
    tsign = np.where(kind == 2, -1.0, 1.0)[:, None]
    p_on = np.where(kind == 3, 0.0, 1.0)[:, None]
    shift = c(-0.08, 0.08)
    beat = bump(shift, 0.06 * wide * c(0.8, 1.3), c(0.8, 1.2)) + bump(0.4 + shift, 0.15, 0.3 * tsign * c(0.6, 1.3))
    beat += bump(-0.35 + shift, 0.08, 0.2 * p_on * c(0.6, 1.3)) - bump(0.1 + shift, 0.05, c(0.1, 0.3))
    beat += 0.06 * r.normal(size=beat.shape)
    beat = (beat - beat.mean(1, keepdims=True)) / beat.std(1, keepdims=True)
    return beat.astype("float32"), kind


class SparseEncoder(keras.layers.Layer):
    """Unrolled non-negative sparse coding."""

    def __init__(self, atoms, unroll, theta, **kw):
        super().__init__(**kw)
        self.atoms, self.unroll, self.theta0 = atoms, unroll, theta

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.atoms), initializer="glorot_uniform")
        self.s = self.add_weight(
            shape=(self.atoms, self.atoms), initializer=keras.initializers.RandomNormal(stddev=0.02)
        )
        self.theta = self.add_weight(shape=(self.atoms,), initializer=keras.initializers.Constant(self.theta0))

    def call(self, x):
        drive = x @ self.w
        z = tf.nn.relu(drive - self.theta)
        for _ in range(self.unroll - 1):
            z = tf.nn.relu(drive + z @ self.s - self.theta)
        return z


def build():
    i = keras.Input((cfg.samples,))
    z = SparseEncoder(cfg.atoms, cfg.unroll, cfg.theta)(i)
    h = keras.layers.Dense(48, activation="tanh")(z)
    return keras.Model(i, keras.layers.Dense(4, activation="softmax")(h))


x, y = heartbeats(cfg.n, 1)
xv, yv = heartbeats(1500, 2)
model = build()
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
h = model.fit(x, y, batch_size=64, epochs=cfg.epochs, verbose=2)
pred = model.predict(xv, verbose=0).argmax(1)
bal = np.mean([np.mean(pred[yv == k] == k) for k in range(4)])
print(f"loss {h.history['loss'][-1]:.4f} held-out balanced accuracy {bal:.3f}")
