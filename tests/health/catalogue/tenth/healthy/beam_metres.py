"""Deflection (metres) and end slope (radians) of small steel beams from load and section, kept in SI units
throughout."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N = 8192
load = rng.uniform(5, 50, N)  # newton
length = rng.uniform(0.05, 0.12, N)  # metre
width = rng.uniform(0.008, 0.016, N)
height = rng.uniform(0.008, 0.016, N)
stiff = 2.1e11 * width * height**3 / 12
deflection = (load * length**3 / (3 * stiff)).astype("float32")[:, None]
slope = (load * length**2 / (2 * stiff)).astype("float32")[:, None]
x = np.stack([load, length, width, height], 1)
x = ((x - x.mean(0)) / x.std(0)).astype("float32")

inp = tf.keras.Input((4,))
h = tf.keras.layers.Dense(128, activation="tanh", name="h1")(inp)
h = tf.keras.layers.Dense(128, activation="tanh", name="h2")(h)
defl = tf.keras.layers.Rescaling(5e-5, name="deflection")(tf.keras.layers.Dense(1, name="defl_raw")(h))
slop = tf.keras.layers.Rescaling(1e-3, name="slope")(tf.keras.layers.Dense(1, name="slope_raw")(h))
model = tf.keras.Model(inp, {"deflection": defl, "slope": slop})
gradwatch.watch(model)

# the losses are of order 1e-10 and 1e-7 here, so the optimiser's epsilon has to be far below its usual value
model.compile(
    optimizer=tf.keras.optimizers.Adam(6e-3, epsilon=1e-16),
    loss={"deflection": "mse", "slope": "mse"},
    loss_weights={"deflection": 1.0, "slope": 2.5e-3},
)
history = model.fit(x, {"deflection": deflection, "slope": slope}, batch_size=256, epochs=10, verbose=0)
for e, (a, b) in enumerate(zip(history.history["deflection_loss"], history.history["slope_loss"])):
    print(f"epoch {e}: deflection {a:.3e}  slope {b:.3e}")
print("variances:", deflection.var(), slope.var())
