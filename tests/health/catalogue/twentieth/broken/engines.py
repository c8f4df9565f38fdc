"""Two vibration spectra: do they come from an engine in the same wear state?"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
BINS, STATES = 64, 6
PEAKS = rng.integers(4, BINS - 4, (STATES, 3))


def spectrum(state):
    x = rng.gamma(1.0, 0.35, (len(state), BINS))
    for j in range(3):
        pos = PEAKS[state, j] + rng.integers(-1, 2, len(state))
        x[np.arange(len(state)), pos] += rng.uniform(1.0, 2.0, len(state))
    return np.log1p(x).astype("float32")[..., None]


def pairs(n):
    a = rng.integers(0, STATES, n)
    b = np.where(rng.random(n) < 0.5, a, rng.integers(0, STATES, n))
    return spectrum(a), spectrum(b), (a == b).astype("float32")[:, None]


class Siamese(keras.Model):
    def __init__(self, dim=16):
        super().__init__()
        self.net = keras.Sequential(
            [
                layers.Conv1D(16, 5, strides=2, activation="elu"),
                layers.Conv1D(24, 3, strides=2, activation="elu"),
                layers.Flatten(),
                layers.Dense(48, activation="elu"),
                layers.Dense(dim),
            ]
        )
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, ab):
        za, zb = self.net(ab[0]), self.net(ab[1])
        return tf.sqrt(tf.reduce_sum(tf.square(za - zb), axis=-1) + 1e-8)

    def train_step(self, data):
        (a, b), same = data
        with tf.GradientTape() as tape:
            d = self((a, b), training=True)
            per_pair = same * d**2 + (1.0 - same) * tf.maximum(1.5 - d, 0.0) ** 2
            loss = tf.reduce_mean(per_pair)
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


a, b, s = pairs(6000)
av, bv, sv = pairs(1500)
model = Siamese()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(model)
h = model.fit((a, b), s, batch_size=64, epochs=8, verbose=0)
d = model.predict((av, bv), verbose=0)
pos, neg = d[sv[:, 0] == 1], d[sv[:, 0] == 0]
print(f"loss {h.history['loss'][-1]:.4f}  held-out AUC {(pos[:, None] < neg[None]).mean():.3f}")
