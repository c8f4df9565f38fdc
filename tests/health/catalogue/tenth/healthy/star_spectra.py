"""Surface temperature and gravity of stars from short spectra: a twelve-block residual network whose blocks start
switched off."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, PIX, BLOCKS, WIDTH = 4096, 96, 12, 64


def make_spectra():
    wave = np.linspace(0, 1, PIX)[None]
    temp = rng.uniform(-1, 1, (N, 1))
    grav = rng.uniform(-1, 1, (N, 1))
    flux = 1 + 0.4 * temp * (wave - 0.5)
    for centre, a, b in ((0.15, 0.5, 0.1), (0.33, -0.3, 0.4), (0.52, 0.2, -0.5), (0.71, 0.6, 0.3), (0.9, -0.5, 0.2)):
        depth = 0.25 * np.exp(a * temp * 1.5)
        width = 0.012 * np.exp(0.7 * b * grav)
        flux = flux - depth * np.exp(-0.5 * ((wave - centre) / width) ** 2)
    flux = flux + rng.normal(0, 0.01, flux.shape)
    return ((flux - 0.9) / 0.2).astype("float32"), temp.astype("float32"), grav.astype("float32")


class Gate(tf.keras.layers.Layer):
    """Multiplies a branch by a learnt scalar that begins at nought."""

    def build(self, shape):
        self.alpha = self.add_weight(shape=(), initializer="zeros", name="alpha")

    def call(self, x):
        return self.alpha * x


spec = tf.keras.Input((PIX,), name="spectrum")
x = tf.keras.layers.Dense(WIDTH, name="stem")(spec)
for i in range(BLOCKS):
    b = tf.keras.layers.Dense(WIDTH, activation="relu", kernel_initializer="he_normal", name=f"block{i}_up")(x)
    b = tf.keras.layers.Dense(WIDTH, kernel_initializer="he_normal", name=f"block{i}_down")(b)
    x = tf.keras.layers.Add(name=f"block{i}_add")([x, Gate(name=f"block{i}_gate")(b)])
temp_out = tf.keras.layers.Dense(1, name="temperature")(x)
grav_out = tf.keras.layers.Dense(1, name="gravity")(x)
model = tf.keras.Model(spec, [temp_out, grav_out])
gradwatch.watch(model)

flux, temp, grav = make_spectra()
model.compile(
    optimizer=tf.keras.optimizers.AdamW(1e-3, weight_decay=1e-4),
    loss={"temperature": "mse", "gravity": "mse"},
    jit_compile=True,
)
model.fit(flux, {"temperature": temp, "gravity": grav}, batch_size=128, epochs=10, verbose=2)
