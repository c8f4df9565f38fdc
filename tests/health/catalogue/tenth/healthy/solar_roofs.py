"""Hourly yield of roof solar panels from weather and tilt, in half precision with a dynamic loss scale."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.mixed_precision.set_global_policy("mixed_float16")
SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH, STEPS = 96, 300


def draw_roofs():
    sun, cloud, tilt, facing, temp = rng.uniform(-1, 1, (5, BATCH))
    angle = np.cos(1.2 * (tilt - sun)) * np.cos(facing)
    clear = 1 - 0.6 * (cloud > 0) * cloud
    y = 3.0 * np.maximum(angle, 0) * clear * (1 - 0.15 * temp) + rng.normal(0, 0.05, BATCH)
    return tf.constant(np.stack([sun, cloud, tilt, facing, temp], 1), tf.float32), tf.constant(y[:, None], tf.float32)


inp = tf.keras.Input((5,))
h = inp
for i, w in enumerate((160, 160, 64)):
    h = tf.keras.layers.Dense(w, activation="relu", name=f"fc{i}")(h)
out = tf.keras.layers.Dense(1, dtype="float32", name="yield_kwh")(h)
model = tf.keras.Model(inp, out)
gradwatch.watch(model)
optimizer = tf.keras.optimizers.LossScaleOptimizer(
    tf.keras.optimizers.Adam(2e-3), initial_scale=2.0**15, dynamic_growth_steps=40
)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss


for step in range(STEPS):
    loss = train_step(*draw_roofs())
    if step % 20 == 0 or step == STEPS - 1:
        print(f"{step:4d} loss {float(loss):.4f} scale {float(optimizer.dynamic_scale):.0f}")
