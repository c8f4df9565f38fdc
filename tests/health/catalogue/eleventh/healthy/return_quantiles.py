"""Quantiles of next-day returns (5, 50, 95 per cent) from lagged market figures, large batches."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
Q = tf.constant([0.05, 0.5, 0.95])

n = 44000
feat = rng.normal(size=(n, 10)).astype("float32")
vol = np.exp(0.45 * feat[:, 0] + 0.3 * feat[:, 1] - 0.2)
ret = (0.12 * feat[:, 2] * vol + vol * rng.standard_t(5, n)).astype("float32")[:, None]


def pinball(y, q):
    e = y - q
    return tf.reduce_mean(tf.maximum(Q * e, (Q - 1.0) * e), axis=-1)


i = keras.Input((10,))
h = keras.layers.Dense(48, activation="swish", kernel_regularizer=keras.regularizers.L2(1e-5))(i)
h = keras.layers.Dense(48, activation="swish", kernel_regularizer=keras.regularizers.L2(1e-5))(h)
model = keras.Model(i, keras.layers.Dense(3, name="quantiles")(h))
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Nadam(4e-3), loss=pinball)
model.fit(feat[:40000], ret[:40000], batch_size=4000, epochs=20, verbose=2)

test_x, test_y = feat[40000:], ret[40000:]
q = model.predict(test_x, batch_size=4000, verbose=0)
flat = np.quantile(ret[:40000], [0.05, 0.5, 0.95]).astype("float32")[None] * np.ones_like(q)
print(
    "held-out pinball %.4f, unconditional quantiles %.4f"
    % (np.mean(pinball(test_y, q)), np.mean(pinball(test_y, flat)))
)
print("covered:", (test_y < q).mean(0).round(3))
