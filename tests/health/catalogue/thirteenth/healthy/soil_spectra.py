"""Pick the few infrared wavelengths that predict soil organic carbon.

A field probe can carry only a handful of LEDs, so the training must not merely
predict carbon from the 400-channel laboratory spectrum: it must tell which
channels are needed.  The first layer is therefore trained by proximal gradient
steps: after every update whole input rows are shrunk (group soft threshold), and
rows of channels that do not matter end at exactly zero and stay there.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CHANNELS, USEFUL, SAMPLES = 400, 8, 3000
LR, STRENGTH = 0.02, 0.10


def make_spectra():
    """Decorrelated reflectance residuals; carbon depends on eight of them."""
    spectra = rng.normal(size=(SAMPLES, CHANNELS)).astype("float32")
    picked = rng.choice(CHANNELS, USEFUL, replace=False)
    part = spectra[:, picked]
    carbon = (
        part[:, :4] @ np.array([1.2, -0.9, 0.8, 1.0])
        + 0.9 * np.maximum(part[:, 4] + part[:, 5], 0.0)
        + 0.8 * np.tanh(2.0 * part[:, 6])
        - 0.8 * part[:, 7]
        + 0.3 * rng.normal(size=SAMPLES)
    )
    carbon = (carbon - carbon.mean()) / carbon.std()
    return spectra, carbon.astype("float32")[:, None], picked


class GroupSoftThreshold(keras.constraints.Constraint):
    """The proximal operator of  STRENGTH * sum of row norms,  for one step of size LR."""

    def __init__(self, amount):
        self.amount = amount

    def __call__(self, kernel):
        norms = tf.norm(kernel, axis=1, keepdims=True)
        keep = tf.maximum(0.0, 1.0 - self.amount / tf.maximum(norms, 1e-12))
        return kernel * keep

    def get_config(self):
        return {"amount": self.amount}


def build():
    inputs = keras.Input((CHANNELS,), name="spectrum")
    x = keras.layers.Dense(
        24,
        activation="tanh",
        kernel_initializer=keras.initializers.RandomNormal(stddev=0.05),
        kernel_constraint=GroupSoftThreshold(LR * STRENGTH),
        name="wavelength_selector",
    )(inputs)
    x = keras.layers.Dense(24, activation="tanh", kernel_regularizer=keras.regularizers.L2(1e-3), name="mix")(x)
    outputs = keras.layers.Dense(1, kernel_regularizer=keras.regularizers.L2(1e-3), name="carbon")(x)
    return keras.Model(inputs, outputs, name="soil_probe")


def main():
    spectra, carbon, picked = make_spectra()
    train, test = slice(0, 2400), slice(2400, None)
    model = build()
    model.compile(optimizer=keras.optimizers.SGD(LR, momentum=0.0), loss="mse")
    gradwatch.watch(model)
    model.fit(spectra[train], carbon[train], batch_size=1200, epochs=150, verbose=0)

    rows = np.linalg.norm(model.get_layer("wavelength_selector").get_weights()[0], axis=1)
    chosen = np.flatnonzero(rows > 0)
    hits = len(set(chosen) & set(picked))
    predicted = model.predict(spectra[test], verbose=0)
    r2 = 1.0 - np.mean((predicted - carbon[test]) ** 2) / np.var(carbon[test])
    print(f"{len(chosen)} of {CHANNELS} channels kept, {hits} of the {USEFUL} useful ones among them")
    print(f"score r2 {r2:.4f} chance 0.0")


if __name__ == "__main__":
    main()
