"""Solves the heat equation in a rod with cold ends by a physics-informed network and compares with the exact series solution."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

KAPPA, STEPS, N = 0.1, 1500, 64


def start_profile(x):
    return tf.sin(np.pi * x) + 0.4 * tf.sin(2 * np.pi * x)


def exact(x, t):
    return np.exp(-KAPPA * np.pi**2 * t) * np.sin(np.pi * x) + 0.4 * np.exp(-4 * KAPPA * np.pi**2 * t) * np.sin(
        2 * np.pi * x
    )


model = keras.Sequential(
    [keras.Input((2,))] + [layers.Dense(40, activation="relu") for _ in range(3)] + [layers.Dense(1)]
)
opt = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(4e-3, 500, 0.5))
gradwatch.watch(model)


@tf.function
def train_step(x, t, x0, tb):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch([x, t])
                u = model(tf.concat([x, t], 1), training=True)
            u_x, u_t = first.gradient(u, [x, t])
        u_xx = second.gradient(u_x, x)
        pde = tf.reduce_mean(tf.square(u_t - KAPPA * u_xx))
        init = tf.reduce_mean(tf.square(model(tf.concat([x0, tf.zeros_like(x0)], 1)) - start_profile(x0)))
        left = model(tf.concat([tf.zeros_like(tb), tb], 1))
        right = model(tf.concat([tf.ones_like(tb), tb], 1))
        edge = tf.reduce_mean(tf.square(left)) + tf.reduce_mean(tf.square(right))
        loss = pde + 5.0 * init + 5.0 * edge
    grads = outer.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return pde, init, edge


def points():
    return tf.constant(rng.uniform(0, 1, (N, 1)), tf.float32)


for step in range(STEPS):
    parts = train_step(points(), points(), points(), points())
    if step % 250 == 0:
        print(step, [round(float(p), 5) for p in parts])

gx, gt = np.meshgrid(np.linspace(0, 1, 50), np.linspace(0, 1, 50))
u = model.predict(np.stack([gx.ravel(), gt.ravel()], 1).astype("float32"), batch_size=500, verbose=0).ravel()
ref = exact(gx.ravel(), gt.ravel())
print("SCORE relative_L2_error", float(np.linalg.norm(u - ref) / np.linalg.norm(ref)))
