import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(31)
T, SENSORS = 80, 3


def shaft_runs(n, rng):
    """Accelerometer traces of a rotating shaft; target: its speed and its imbalance."""
    t = np.arange(T)[None, :]
    damp = rng.uniform(0.005, 0.05, (n, 1))
    imb = rng.uniform(0.2, 1.5, (n, 1))
    w = rng.uniform(0.2, 0.5, (n, 1))
    ph = rng.uniform(0, 2 * np.pi, (n, 1))
    ring = 2.0 * np.exp(-damp * t) * np.cos(2.3 * w * t + ph)
    turn = imb * np.sin(w * t)
    x = np.stack([ring + turn, 0.6 * ring - 0.4 * turn, turn * np.cos(ph)], -1)
    x = x + rng.normal(0, 0.1, x.shape)
    y = np.concatenate([(w - 0.35) / 0.087, (imb - 0.85) / 0.375], 1)
    return x.astype("float32"), y.astype("float32")


def reader(units):
    return tf.keras.layers.LSTM(units, activation="relu", name="reader")


def build():
    x = tf.keras.Input((T, SENSORS))
    h = reader(32)(x)
    h = tf.keras.layers.Dense(32, activation="relu")(h)
    return tf.keras.Model(x, tf.keras.layers.Dense(2)(h))


rng = np.random.default_rng(31)
x, y = shaft_runs(3000, rng)
xv, yv = shaft_runs(500, rng)
net = build()
net.compile(optimizer=tf.keras.optimizers.SGD(0.03, momentum=0.9), loss="mse")
gradwatch.watch(net)
log = net.fit(x, y, epochs=8, batch_size=64, verbose=2)
pred = net.predict(xv, verbose=0)
print("loss", log.history["loss"][-1], "held-out R2", float(1 - np.mean((pred - yv) ** 2) / np.var(yv)))
