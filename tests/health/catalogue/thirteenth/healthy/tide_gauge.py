"""Forecast the water level at a harbour gauge six steps ahead, with an echo state network.

The recurrent part is a fixed random reservoir: it is drawn once, scaled to a spectral
radius a little below one, and never trained (frozen on purpose, 99 % of all weights).
Only the readout learns.  The gauge drops out now and then: gaps are coded as NaN, the
reservoir coasts on a zero input there and the loss leaves those targets out.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WINDOW, AHEAD, UNITS, WASHOUT = 72, 6, 160, 24


def gauge_series(n):
    """Three tidal constituents, slow surge, sensor noise; 8 % lost in runs of a few hours."""
    t = np.arange(n)
    tide = np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 12.0 + 1) + 0.3 * np.sin(2 * np.pi * t / 25.8)
    surge = np.convolve(rng.normal(size=n + 49), np.hanning(50), "valid") * 0.05
    level = tide * (1.0 + 0.2 * surge) + surge + 0.05 * rng.normal(size=n)
    for start in rng.choice(n - 8, n // 50, replace=False):
        level[start : start + rng.integers(2, 7)] = np.nan
    return level.astype("float32")


def windows(level):
    starts = np.arange(0, len(level) - WINDOW - AHEAD, 5)
    past = np.stack([level[s : s + WINDOW] for s in starts])
    ahead = np.stack([level[s + AHEAD : s + AHEAD + WINDOW] for s in starts])
    return past[..., None], ahead[..., None]


def masked_mse(target, predicted):
    """Mean squared error over the readings that exist, after the reservoir's wash-out."""
    target, predicted = target[:, WASHOUT:], predicted[:, WASHOUT:]
    known = tf.math.is_finite(target)
    filled = tf.where(known, target, 0.0)  # before the difference, so no NaN meets the gradient
    known = tf.cast(known, predicted.dtype)
    return tf.reduce_sum(known * tf.square(filled - predicted)) / tf.maximum(tf.reduce_sum(known), 1.0)


class Reservoir(keras.layers.Layer):
    """Leaky tanh units with fixed random wiring (10 % of the connections)."""

    def __init__(self, units, leak=0.5, radius=0.95, **kwargs):
        super().__init__(trainable=False, **kwargs)
        wiring = rng.normal(size=(units, units)) * (rng.random((units, units)) < 0.1)
        wiring *= radius / np.abs(np.linalg.eigvals(wiring)).max()
        self.leak, self.units = leak, units
        self.wiring = self.add_weight(shape=(units, units), trainable=False, name="wiring")
        self.inlet = self.add_weight(shape=(2, units), trainable=False, name="inlet")
        self.wiring.assign(wiring)
        self.inlet.assign(rng.uniform(-0.5, 0.5, size=(2, units)))

    def call(self, level):
        seen = tf.math.is_finite(level)
        signal = tf.concat([tf.where(seen, level, 0.0), tf.cast(seen, level.dtype)], axis=-1)
        state, states = tf.zeros((tf.shape(level)[0], self.units)), []
        for step in range(WINDOW):
            drive = tf.tanh(signal[:, step] @ self.inlet + state @ self.wiring)
            state = (1.0 - self.leak) * state + self.leak * drive
            states.append(state)
        return tf.stack(states, axis=1)


class EchoForecaster(keras.Model):
    def __init__(self):
        super().__init__(name="echo_forecaster")
        self.reservoir = Reservoir(UNITS, name="reservoir")
        self.readout = keras.layers.Dense(1, kernel_initializer="zeros", name="readout")

    def call(self, level):
        return self.readout(self.reservoir(level))


def main():
    past, ahead = windows(gauge_series(9000))
    train, test = slice(0, 1400), slice(1420, None)
    model = EchoForecaster()
    model(past[:2])
    model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, 660)), loss=masked_mse)
    gradwatch.watch(model)
    model.fit(past[train], ahead[train], batch_size=64, epochs=30, verbose=0)

    predicted = model.predict(past[test], verbose=0)[:, WASHOUT:]
    actual = ahead[test][:, WASHOUT:]
    r2 = 1.0 - np.nanmean((predicted - actual) ** 2) / np.nanvar(actual)
    print(f"score r2_six_ahead {r2:.4f} chance 0.0")


if __name__ == "__main__":
    main()
