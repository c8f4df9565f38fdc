"""Displacement field of a loaded steel plate (metres) as a neural field,
fitted to points from digital image correlation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
U_REF = 3.0e-3  # metres, largest displacement seen in the test


def field(p):
    x, y, load = p[:, 0], p[:, 1], p[:, 2]
    u = np.sin(2.5 * x + 1.5 * y) * (0.6 + 0.4 * load) + 0.4 * np.cos(4.5 * y - 1.0) * load
    v = np.exp(-3 * (x**2 + y**2)) * (1 + load) - 0.5 * np.sin(4.0 * x * y)
    return U_REF * np.stack([u, v], 1)


points = rng.uniform(-1, 1, (60000, 3)).astype("float32")
disp = (field(points) + rng.normal(0, 2e-5, (60000, 2))).astype("float32")

inp = keras.Input((3,), name="xyt")
h = layers.Dense(96, activation="tanh", name="field1")(inp)
h = layers.Dense(96, activation="tanh", name="field2")(h)
h = layers.Dense(96, activation="tanh", name="field3")(h)
h = layers.Dense(2, dtype="float32", name="uv")(h)
out = layers.Rescaling(U_REF, dtype="float32", name="to_metres")(h)
model = keras.Model(inp, out, name="plate")
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(3e-3, epsilon=1e-10)


@tf.function
def train_step(p, d):
    with tf.GradientTape() as tape:
        pred = model(p, training=True)
        loss = tf.reduce_mean(tf.square(pred - d))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(300):
    idx = rng.integers(0, len(points), 12288)
    loss = train_step(tf.constant(points[idx]), tf.constant(disp[idx]))
    if step % 30 == 0 or step == 299:
        print(f"step {step:4d}  rms error {1e3 * float(loss) ** 0.5:.4f} mm  loss {float(loss):.3e}")
