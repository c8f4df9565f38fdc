import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)


def days(n):
    x = rng.normal(size=(n, 10)).astype("float32")
    mu = 0.02 * (np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2])
    sd = 0.004 * np.exp(0.6 * x[:, 3])
    return x, (mu + sd * rng.normal(size=n)).astype("float32")[:, None]


def nll(y, p):
    q = tf.constant([[0.1, 0.5, 0.9]])
    mu, log_sd = p[:, :1], tf.clip_by_value(p[:, 1:2], -9.0, 3.0)
    e = y - p[:, 2:]
    pinball = tf.reduce_mean(tf.maximum(q * e, (q - 1.0) * e), -1)
    return 0.5 * tf.square((y - mu) * tf.exp(-log_sd))[:, 0] + log_sd[:, 0] + 10.0 * pinball


x, y = days(8000)
xt, yt = days(2000)
fixed = keras.layers.Dense(64, activation="tanh", trainable=False)
model = keras.Sequential(
    [
        keras.Input((10,)),
        keras.layers.Dense(96, activation="silu"),
        fixed,
        keras.layers.Dense(64, activation="silu"),
        keras.layers.Dense(5),
    ]
)
model.compile(keras.optimizers.Adam(3e-3, global_clipnorm=0.5), nll)
gradwatch.watch(model)
h = model.fit(x, y, batch_size=100, epochs=20, verbose=0)
mu = model.predict(xt, verbose=0)[:, :1]
print("loss", h.history["loss"][-1], "held-out R2", 1 - np.mean((mu - yt) ** 2) / yt.var())
