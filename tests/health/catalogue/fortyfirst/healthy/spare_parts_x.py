"""Forecasts intermittent demand of spare parts, most weeks of most parts being zero, as negative binomial counts."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PARTS, WEEKS, L = 400, 120, 12
rate = np.exp(rng.normal(-2.2, 1.3, PARTS))
season = 1 + 0.8 * np.sin(2 * np.pi * np.arange(WEEKS)[None] / 26 + rng.uniform(0, 6.3, (PARTS, 1)))
lam = rate[:, None] * season
demand = rng.poisson(lam * rng.gamma(2.0, 0.5, lam.shape)).astype("float32")
print("share of zeros", float((demand == 0).mean()))
I, H, W, Y, LAM = [], [], [], [], []
for w in range(L, WEEKS):
    I.append(np.arange(PARTS))
    H.append(np.log1p(demand[:, w - L : w]))
    W.append(np.full(PARTS, w))
    Y.append(demand[:, w])
    LAM.append(lam[:, w])
I, H, W, Y, LAM = map(np.concatenate, (I, H, W, Y, LAM))
F = np.concatenate([H, np.stack([np.sin(2 * np.pi * W / 26), np.cos(2 * np.pi * W / 26)], 1)], 1).astype("float32")
tr = W < 105

part, feat = keras.Input((1,), dtype="int32"), keras.Input((L + 2,))
e = layers.Flatten()(layers.Embedding(PARTS, 8)(part))
h = layers.Dense(48, activation="relu")(layers.Concatenate()([e, feat]))
h = layers.Dense(32, activation="relu")(h)
model = keras.Model([part, feat], layers.Dense(2, bias_initializer=keras.initializers.Constant(-1.0))(h))


def nb_nll(y, out):
    y = tf.reshape(y, (-1, 1))
    mu, r = tf.math.softplus(out[:, :1]) + 1e-4, tf.math.softplus(out[:, 1:]) + 0.05
    ll = (
        tf.math.lgamma(y + r)
        - tf.math.lgamma(r)
        - tf.math.lgamma(y + 1)
        + r * tf.math.log(r / (r + mu))
        + y * tf.math.log(mu / (r + mu))
    )
    return -tf.reduce_mean(ll)


model.compile(keras.optimizers.Adam(2e-3), nb_nll)
gradwatch.watch(model)
model.fit([I[tr][:, None], F[tr]], Y[tr], batch_size=128, epochs=5, verbose=2)
mu = np.log1p(np.exp(model.predict([I[~tr][:, None], F[~tr]], verbose=0)[:, 0]))
print("SCORE corr_log_rate", float(np.corrcoef(np.log(mu + 1e-3), np.log(LAM[~tr] + 1e-3))[0, 1]))
