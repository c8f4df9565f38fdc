"""Physics-informed net for a cooling rod: u_t = a u_xx on x in [0, 1], t in [0, 1], ends held at zero."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
DIFFUSIVITY = 0.15
STEPS = 1500


def exact(x, t):
    return np.sin(np.pi * x) * np.exp(-DIFFUSIVITY * np.pi**2 * t) + 0.3 * np.sin(2 * np.pi * x) * np.exp(
        -4 * DIFFUSIVITY * np.pi**2 * t
    )


def sample(n_inside=192, n_edge=48):
    inside = rng.uniform(size=(n_inside, 2))
    x0 = rng.uniform(size=(n_edge, 1))
    start = np.concatenate([x0, np.zeros_like(x0)], axis=1)
    ends = np.concatenate([rng.integers(0, 2, size=(n_edge, 1)), rng.uniform(size=(n_edge, 1))], axis=1)
    return [a.astype("float32") for a in (inside, start, exact(x0, 0.0), ends)]


model = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ]
)
rate = keras.optimizers.schedules.CosineDecay(4e-3, STEPS, alpha=0.05)
optimizer = keras.optimizers.Adam(rate)


def residual(points):
    x, t = points[:, 0:1], points[:, 1:2]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            inner.watch(t)
            u = model(tf.concat([x, t], axis=1), training=True)
        u_x = inner.gradient(u, x)
        u_t = inner.gradient(u, t)
    u_xx = outer.gradient(u_x, x, unconnected_gradients="zero")
    return u_t - DIFFUSIVITY * u_xx


@tf.function
def train_step(inside, start, u_start, ends):
    with tf.GradientTape() as tape:
        pde = tf.reduce_mean(tf.square(residual(inside)))
        initial = tf.reduce_mean(tf.square(model(start, training=True) - u_start))
        boundary = tf.reduce_mean(tf.square(model(ends, training=True)))
        loss = pde + 10.0 * initial + 10.0 * boundary
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, pde, initial, boundary


gradwatch.watch(model)
for step in range(STEPS):
    parts = train_step(*[tf.constant(a) for a in sample()])
    if step % 150 == 0 or step == STEPS - 1:
        print("step %4d  loss %.5f  pde %.5f  initial %.5f  boundary %.5f" % (step, *[float(p) for p in parts]))

gx, gt = np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41))
grid = np.stack([gx.ravel(), gt.ravel()], axis=1).astype("float32")
truth = exact(grid[:, 0], grid[:, 1])
guess = model.predict(grid, batch_size=2000, verbose=0)[:, 0]
print("SCORE relative_l2_error %.4f" % (np.linalg.norm(guess - truth) / np.linalg.norm(truth)))
