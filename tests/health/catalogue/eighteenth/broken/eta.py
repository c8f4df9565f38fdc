import argparse

import keras
import numpy as np
import tensorflow as tf

import gradwatch

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=12)
ap.add_argument("--routers", type=int, default=5)
ap.add_argument("--temp", type=float, default=0.1)
ap.add_argument("--sharp", type=float, default=0.05)
ap.add_argument("--lr", type=float, default=3e-3)
args = ap.parse_args()
keras.utils.set_random_seed(8)


def shipments(n, seed):
    g = np.random.default_rng(seed)
    x = g.normal(size=(n, 18)).astype("float32")
    w = np.random.default_rng(99).normal(size=(args.routers, 18)) / 3
    anchors = np.random.default_rng(98).normal(size=(args.routers, 18))
    lane = (x @ anchors.T).argmax(1)
    hours = np.einsum("nd,nd->n", x, w[lane]) + 0.8 * np.sin(2 * x[:, 0]) + g.normal(0, 0.1, n)
    return x, hours.astype("float32")[:, None]


class LaneMixture(keras.layers.Layer):
    """Soft routing of each shipment to one of several lane models."""

    def __init__(self, n, units, temp, sharp):
        super().__init__()
        self.temp, self.sharp = temp, sharp
        self.router = keras.Sequential([keras.layers.Dense(48, activation="relu"), keras.layers.Dense(n)])
        self.lanes = [
            keras.Sequential([keras.layers.Dense(units, activation="tanh"), keras.layers.Dense(16)]) for _ in range(n)
        ]

    def call(self, x):
        p = tf.nn.softmax(self.router(x) / self.temp)
        entropy = -tf.reduce_sum(p * tf.math.log(p), axis=-1)
        usage = tf.reduce_mean(p, axis=0)
        self.add_loss(self.sharp * tf.reduce_mean(entropy))
        self.add_loss(0.2 * tf.reduce_sum(tf.square(usage - 1.0 / len(self.lanes))))
        stacked = tf.stack([lane(x) for lane in self.lanes], axis=1)
        return tf.reduce_sum(stacked * p[..., None], axis=1)


x, y = shipments(6000, 1)
xv, yv = shipments(1000, 2)
inp = keras.Input((18,))
h = LaneMixture(args.routers, 48, args.temp, args.sharp)(inp)
model = keras.Model(inp, keras.layers.Dense(1)(keras.layers.Activation("tanh")(h)))
model.compile(keras.optimizers.Adam(args.lr), loss="mae")
gradwatch.watch(model)
h = model.fit(x, y, batch_size=64, epochs=args.epochs, verbose=2)
pred = model.predict(xv, verbose=0)
print(
    "loss",
    h.history["loss"][-1],
    "heldout MAE",
    float(np.mean(np.abs(pred - yv))),
    "of",
    float(np.mean(np.abs(yv - y.mean()))),
)
