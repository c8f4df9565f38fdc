"""Physics-informed network for the cooling of a rod: u_t = k u_xx, u = 0 at both ends."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

K, N_COL, N_BC, STEPS = 0.12, 256, 64, 1500


def start_profile(x):
    return np.sin(np.pi * x) + 0.4 * np.sin(2 * np.pi * x)


def exact(x, t):
    return np.exp(-K * np.pi**2 * t) * np.sin(np.pi * x) + 0.4 * np.exp(-4 * K * np.pi**2 * t) * np.sin(2 * np.pi * x)


def build():
    inp = keras.Input((2,))
    h = inp
    for _ in range(4):
        h = layers.Dense(40, activation="tanh", kernel_initializer="he_normal")(h)
    return keras.Model(inp, layers.Dense(1)(h))


model = build()
schedule = keras.optimizers.schedules.CosineDecay(3e-3, STEPS, alpha=0.02)
optimizer = keras.optimizers.Adam(schedule)
gradwatch.watch(model)


def residual(x, t):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            inner.watch(t)
            u = model(tf.concat([x, t], 1), training=True)
        u_x = inner.gradient(u, x)
        u_t = inner.gradient(u, t)
    u_xx = outer.gradient(u_x, x)
    return u_t - K * u_xx


@tf.function
def train_step(xc, tc, xi, ui, tb):
    with tf.GradientTape() as tape:
        pde = tf.reduce_mean(tf.square(residual(xc, tc)))
        init = tf.reduce_mean(tf.square(model(tf.concat([xi, tf.zeros_like(xi)], 1), training=True) - ui))
        left = model(tf.concat([tf.zeros_like(tb), tb], 1), training=True)
        right = model(tf.concat([tf.ones_like(tb), tb], 1), training=True)
        edge = tf.reduce_mean(tf.square(left)) + tf.reduce_mean(tf.square(right))
        loss = pde + 10.0 * init + 10.0 * edge
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, pde, init, edge


def uniform(n):
    return rng.uniform(0, 1, (n, 1)).astype("float32")


for step in range(STEPS):
    xi = uniform(N_BC)
    parts = train_step(
        tf.constant(uniform(N_COL)),
        tf.constant(uniform(N_COL)),
        tf.constant(xi),
        tf.constant(start_profile(xi).astype("float32")),
        tf.constant(uniform(N_BC)),
    )
    if step % 250 == 0:
        print("step %d  loss %.4f  pde %.4f  init %.4f  edge %.4f" % (step, *[float(p) for p in parts]))

gx, gt = np.meshgrid(np.linspace(0, 1, 51), np.linspace(0, 1, 51))
grid = np.stack([gx.ravel(), gt.ravel()], 1).astype("float32")
u = model.predict(grid, batch_size=1024, verbose=0)[:, 0]
ref = exact(grid[:, 0], grid[:, 1])
print("SCORE relative_l2_error %.4f" % (np.linalg.norm(u - ref) / np.linalg.norm(ref)))
