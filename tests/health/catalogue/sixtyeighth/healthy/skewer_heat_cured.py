import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DIFFUSIVITY = 0.15
INTERIOR = 256
EDGE = 64
ACTIVATION = "tanh"


def exact(x, t):
    first = np.exp(-DIFFUSIVITY * np.pi**2 * t) * np.sin(np.pi * x)
    second = 0.5 * np.exp(-DIFFUSIVITY * 4.0 * np.pi**2 * t) * np.sin(2.0 * np.pi * x)
    return first + second


def initial_profile(x):
    return exact(x, np.zeros_like(x))


def collocation():
    xt = rng.random((INTERIOR, 2)).astype("float32")
    return tf.constant(xt[:, :1]), tf.constant(xt[:, 1:])


def edges():
    x0 = rng.random((EDGE, 1))
    start = np.concatenate([x0, np.zeros((EDGE, 1)), initial_profile(x0)], axis=1)
    tb = rng.random((EDGE, 1))
    side = rng.integers(0, 2, (EDGE, 1)).astype(float)
    wall = np.concatenate([side, tb, np.zeros((EDGE, 1))], axis=1)
    data = np.concatenate([start, wall]).astype("float32")
    return tf.constant(data[:, :2]), tf.constant(data[:, 2:])


inputs = keras.Input((2,))
h = inputs
for depth in range(3):
    h = keras.layers.Dense(32, activation=ACTIVATION, kernel_initializer="glorot_normal", name=f"hidden_{depth}")(h)
network = keras.Model(inputs, keras.layers.Dense(1, name="temperature")(h))
schedule = keras.optimizers.schedules.ExponentialDecay(4e-3, 1000, 0.5)
optimizer = keras.optimizers.Adam(schedule)
watch = gradwatch.watch(network)


def residual(x, t):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch([x, t])
            u = network(tf.concat([x, t], axis=1))
        u_x = inner.gradient(u, x)
        u_t = inner.gradient(u, t)
    u_xx = outer.gradient(u_x, x)
    return u_t - DIFFUSIVITY * u_xx


@tf.function
def train_step(x, t, points, values):
    with tf.GradientTape() as tape:
        physics = tf.reduce_mean(tf.square(residual(x, t)))
        data = tf.reduce_mean(tf.square(network(points) - values))
        loss = physics + 10.0 * data
    grads = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(grads, network.trainable_variables))
    return loss, physics, data


for step in range(2000):
    loss, physics, data = train_step(*collocation(), *edges())
    watch.log(loss=loss)
    if step % 400 == 0:
        print(step, float(physics), float(data))

grid_x, grid_t = np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60))
points = np.stack([grid_x.ravel(), grid_t.ravel()], axis=1).astype("float32")
predicted = network.predict(points, verbose=0, batch_size=3600)[:, 0]
truth = exact(points[:, 0], points[:, 1])
print("SCORE", float(1.0 - np.linalg.norm(predicted - truth) / np.linalg.norm(truth)))
