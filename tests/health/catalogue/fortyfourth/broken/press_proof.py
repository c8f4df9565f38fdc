"""Trains a printer profile: from four ink amounts to the reflectance of the printed patch."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

INK_RGB = np.array(
    [
        [0.03, 0.35, 0.70],  # cyan
        [0.60, 0.04, 0.22],  # magenta
        [0.82, 0.68, 0.03],  # yellow
        [0.02, 0.02, 0.02],  # key
    ]
)
PAPER = np.array([0.86, 0.87, 0.84])
YULE_NIELSEN = 1.7


def print_patch(inks):
    """Neugebauer mixture of the sixteen overprints, with optical dot gain."""
    inks = inks + 0.18 * inks * (1 - inks)
    total = np.zeros((len(inks), 3))
    for code in range(16):
        on = [(code >> i) & 1 for i in range(4)]
        area = np.prod([inks[:, i] if b else 1 - inks[:, i] for i, b in enumerate(on)], axis=0)
        colour = PAPER.copy()
        for i, b in enumerate(on):
            if b:
                colour = colour * INK_RGB[i] / 0.9
        total += area[:, None] * colour ** (1 / YULE_NIELSEN)
    return total**YULE_NIELSEN


inks = rng.beta(0.6, 0.6, size=(9000, 4))
reflectance = print_patch(inks) * np.exp(rng.normal(0, 0.01, (9000, 3)))
x = (inks * 2 - 1).astype("float32")
y = reflectance.astype("float32")
x_train, y_train, x_test, y_test = x[:8000], y[:8000], x[8000:], y[8000:]


def lightness(t):
    """CIE lightness, scaled to 0..1."""
    root = tf.pow(t, 1 / 3)
    return 1.16 * root - 0.16


def visual_difference(y_true, y_pred):
    return tf.reduce_mean(tf.square(lightness(y_true) - lightness(y_pred)), axis=-1)


def build():
    patch = keras.Input((4,), name="inks")
    h = keras.layers.Dense(48, activation="silu")(patch)
    h = keras.layers.Dense(48, activation="silu")(h)
    h = keras.layers.Dense(48, activation="silu")(h)
    rgb = keras.layers.Dense(
        3,
        kernel_initializer=keras.initializers.RandomNormal(stddev=0.02),
        bias_initializer=keras.initializers.Constant(0.3),
        name="rgb",
    )(h)
    return keras.Model(patch, rgb, name="profile")


model = build()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=visual_difference)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=14, validation_split=0.1, verbose=2)

predicted = model.predict(x_test, verbose=0)
error = np.abs(np.cbrt(predicted) - np.cbrt(y_test)).mean() * 116
print("SCORE delta_l", error)
