import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(2)
STEPS = 64


def sessions(n, seed):
    """Charging sessions of a battery pack: current, voltage, temperature, ambient."""
    g = np.random.default_rng(seed)
    soak = g.uniform(-1, 1, n)
    wear = g.uniform(-1, 1, n)
    t = np.linspace(0, 1, STEPS)
    cur = np.exp(-2 * t)[None] + 0.15 * g.normal(size=(n, STEPS))
    volt = t[None] + 0.15 * g.normal(size=(n, STEPS))
    temp = 0.3 * t[None] + 0.15 * g.normal(size=(n, STEPS))
    ambient = 0.5 * np.cumsum(g.normal(size=(n, STEPS)), 1) / 8
    pulse = (np.arange(STEPS) < 8)[None]
    volt = volt + pulse * wear[:, None]
    temp = temp + pulse * soak[:, None]
    x = np.stack([cur, volt, temp, ambient], -1).astype("float32")
    fade = 1.2 * wear + 0.8 * soak * wear + 0.35 * ambient[:, -1] + 0.05 * g.normal(size=n)
    return x, fade.astype("float32")


class LeakyCell(layers.Layer):
    def __init__(self, units, keep=0.55, **kw):
        super().__init__(**kw)
        self.units, self.keep = units, keep
        self.state_size = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), name="w")
        self.u = self.add_weight(
            shape=(self.units, self.units), initializer=keras.initializers.RandomNormal(stddev=0.02), name="u"
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x, states):
        h = states[0]
        new = tf.tanh(tf.matmul(x, self.w) + tf.matmul(h, self.u) + self.b)
        h = self.keep * h + (1.0 - self.keep) * new
        return h, [h]


x, y = sessions(3200, 1)
xv, yv = sessions(600, 2)
model = keras.Sequential(
    [
        layers.Input((STEPS, 4)),
        layers.RNN(LeakyCell(48), name="thermal_memory"),
        layers.Dense(32, activation="elu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
fit = model.fit(x, y, epochs=14, batch_size=64, verbose=2)
p = model.predict(xv, verbose=0)[:, 0]
print("loss %.4f heldout R2 %.3f" % (fit.history["loss"][-1], 1 - np.mean((p - yv) ** 2) / np.var(yv)))
