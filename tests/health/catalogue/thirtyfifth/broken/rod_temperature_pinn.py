"""Solve the steady heat equation of a rod with two inner sources by a physics-informed network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def exact(x):
    return np.sin(np.pi * x) + 0.3 * np.sin(3 * np.pi * x) + 0.5 * x


def source(x):
    return np.pi**2 * np.sin(np.pi * x) + 2.7 * np.pi**2 * np.sin(3 * np.pi * x)


x_all = rng.uniform(0, 1, size=(4096, 1)).astype("float32")
f_all = source(x_all).astype("float32")
x_edge = tf.constant([[0.0], [1.0]])
u_edge = tf.constant(exact(np.array([[0.0], [1.0]])), tf.float32)

model = keras.Sequential(
    [
        keras.Input((1,)),
        layers.Dense(40, activation="relu"),
        layers.Dense(40, activation="relu"),
        layers.Dense(40, activation="relu"),
        layers.Dense(1),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 1500))


@tf.function
def train_step(x, f):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = model(x, training=True)
            u_x = inner.gradient(u, x)
        u_xx = outer.gradient(u_x, x)
        pde = tf.reduce_mean(tf.square(u_xx + f))
        edge = tf.reduce_mean(tf.square(model(x_edge, training=True) - u_edge))
        loss = 0.01 * pde + 10.0 * edge
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return pde, edge


data = tf.data.Dataset.from_tensor_slices((x_all, f_all)).shuffle(4096, seed=seed).batch(64).repeat()
for step, (x, f) in enumerate(data.take(1500)):
    pde, edge = train_step(x, f)
    if step % 300 == 299:
        print(f"step {step} pde {float(pde):.4f} edge {float(edge):.6f}")

grid = np.linspace(0, 1, 401, dtype="float32")[:, None]
u = model.predict(grid, verbose=0)
true = exact(grid)
print("SCORE relative_l2_error", float(np.linalg.norm(u - true) / np.linalg.norm(true)))
