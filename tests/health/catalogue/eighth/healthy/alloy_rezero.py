import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BLOCKS = 60
WIDTH = 28


def alloy_table(n, gen):
    """Composition (8 elements) and heat treatment -> yield strength in MPa."""
    comp = gen.dirichlet(np.array([8, 2, 2, 1, 1, 0.7, 0.5, 0.5]), n)
    temp = gen.uniform(400, 1100, n)
    hours = gen.lognormal(1.0, 0.6, n)
    solid = 900 * np.sqrt(comp[:, 1] + 0.5 * comp[:, 2]) + 600 * comp[:, 3] ** 0.66
    ageing = 300 * comp[:, 4] * 8 * np.exp(-(((temp - 750) / 120) ** 2)) * np.log1p(hours)
    soften = -120 * (temp > 900) * (temp - 900) / 200
    y = 150 + solid + ageing + soften + gen.normal(0, 15, n)
    outlier = gen.uniform(size=n) < 0.02
    y = y + outlier * gen.normal(0, 250, n)
    x = np.column_stack([comp, temp / 1000, np.log(hours)])
    return x.astype("float32"), y.astype("float32")


class ScaledResidual(layers.Layer):
    """x + alpha * f(x), with alpha learned from zero."""

    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.f = layers.Dense(width, activation="gelu", use_bias=False, kernel_initializer="he_normal")

    def build(self, shape):
        self.f.build(shape)
        self.alpha = self.add_weight(name="alpha", shape=(), initializer="zeros")

    def call(self, x):
        return x + self.alpha * self.f(x)


gen = np.random.default_rng(SEED)
x_tr, y_tr = alloy_table(4096, gen)
x_te, y_te = alloy_table(800, gen)
mx, sx, my, sy = x_tr.mean(0), x_tr.std(0), y_tr.mean(), y_tr.std()
x_tr, x_te = (x_tr - mx) / sx, (x_te - mx) / sx
y_tr, y_te = (y_tr - my) / sy, (y_te - my) / sy

inp = keras.Input((x_tr.shape[1],))
h = layers.Dense(WIDTH)(inp)
for k in range(BLOCKS):
    h = ScaledResidual(WIDTH, name=f"block_{k:02d}")(h)
net = keras.Model(inp, layers.Dense(1)(h))

lr = keras.optimizers.schedules.PolynomialDecay(1e-3, 384, 5e-5)
net.compile(keras.optimizers.Lion(lr, weight_decay=1e-3), loss=keras.losses.Huber(0.5), metrics=["mae"])
gradwatch.watch(net)
net.fit(x_tr, y_tr, batch_size=64, epochs=6, verbose=2)
alphas = np.array([float(net.get_layer(f"block_{k:02d}").alpha.numpy()) for k in range(BLOCKS)])
print("after", net.evaluate(x_te, y_te, verbose=0), "alpha", np.abs(alphas).mean().round(4))
