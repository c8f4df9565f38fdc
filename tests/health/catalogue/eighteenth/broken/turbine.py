import argparse

import keras
import numpy as np
from keras import layers

import gradwatch

parser = argparse.ArgumentParser(
    description="shortfall of a wind farm against its reference mast, from neighbouring masts"
)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--b1", type=float, default=0.999)
parser.add_argument("--b2", type=float, default=0.9)
parser.add_argument("--wd", type=float, default=1e-4)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--epochs", type=int, default=7)
parser.add_argument("--dim", type=int, default=32)
cfg = parser.parse_args()
keras.utils.set_random_seed(13)
MASTS = 10


def farm(n, seed):
    g = np.random.default_rng(seed)
    place = np.random.default_rng(3).uniform(-1, 1, (MASTS, 2))
    angle = g.uniform(0, 2 * np.pi, n)
    wind = np.stack([np.cos(angle), np.sin(angle)], 1)
    speed = g.weibull(2.0, n) * 8
    local = speed[:, None] * (1 - 0.25 * np.clip(wind @ place.T, 0, None)) + 0.4 * g.normal(size=(n, MASTS))
    feats = np.stack(
        [
            local / 10,
            np.repeat(np.cos(angle)[:, None], MASTS, 1),
            np.repeat(np.sin(angle)[:, None], MASTS, 1),
            np.broadcast_to(place[:, 0], (n, MASTS)),
            np.broadcast_to(place[:, 1], (n, MASTS)),
        ],
        -1,
    )
    power = np.clip((local / 11) ** 3, 0, 1) * (local < 22)
    shortfall = power[:, :1] - power.mean(1, keepdims=True)
    return feats.astype("float32"), shortfall.astype("float32")


x, y = farm(3840, 1)
xv, yv = farm(800, 2)
mu, sd = y.mean(), y.std()


def encoder(h, dim):
    a = layers.MultiHeadAttention(4, dim // 4)(layers.LayerNormalization()(h), layers.LayerNormalization()(h))
    h = layers.Add()([h, a])
    f = layers.Dense(2 * dim, activation="gelu")(layers.LayerNormalization()(h))
    return layers.Add()([h, layers.Dense(dim)(f)])


inp = keras.Input((MASTS, 5))
h = layers.Dense(cfg.dim)(inp)
h = encoder(encoder(h, cfg.dim), cfg.dim)
h = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(h))
model = keras.Model(inp, layers.Dense(1)(h))

opt = keras.optimizers.AdamW(cfg.lr, cfg.wd, cfg.b1, cfg.b2)
model.compile(opt, loss=keras.losses.LogCosh())
gradwatch.watch(model, opt)
hist = model.fit(x, (y - mu) / sd, batch_size=cfg.batch, epochs=cfg.epochs, verbose=2)
p = model.predict(xv, verbose=0) * sd + mu
print("loss", hist.history["loss"][-1], "heldout R2", 1 - np.mean((p - yv) ** 2) / np.var(yv))
