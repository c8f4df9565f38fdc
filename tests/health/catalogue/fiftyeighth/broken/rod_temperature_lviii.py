import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

CONDUCTIVITY = 0.5
ACTIVATION = "relu"


def exact(x):
    return np.sin(np.pi * x) + 0.4 * np.sin(3 * np.pi * x)


def heat_source(x):
    return CONDUCTIVITY * np.pi**2 * (tf.sin(np.pi * x) + 9 * 0.4 * tf.sin(3 * np.pi * x))


def build_solver(width=32, depth=3):
    model = keras.Sequential([keras.Input((1,))])
    for _ in range(depth):
        model.add(keras.layers.Dense(width, activation=ACTIVATION))
    model.add(keras.layers.Dense(1))
    return model


model = build_solver()
watch = gradwatch.watch(model)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-3, decay_steps=3000, alpha=0.05))

ends = tf.constant([[0.0], [1.0]])
end_values = tf.zeros((2, 1))


def residual(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = model(x)
        u_x = inner.gradient(u, x)
    u_xx = outer.gradient(u_x, x)
    return CONDUCTIVITY * u_xx + heat_source(x)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        pde_loss = tf.reduce_mean(tf.square(residual(x)))
        end_loss = tf.reduce_mean(tf.square(model(ends) - end_values))
        loss = pde_loss + 50.0 * end_loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, pde_loss, end_loss


for step in range(3000):
    x = tf.random.uniform((64, 1), seed=SEED + step)
    loss, pde_loss, end_loss = train_step(x)
    watch.log(loss=loss)
    if os.environ.get("SHOW") and step % 500 == 0:
        print(step, float(pde_loss), float(end_loss))

grid = np.linspace(0, 1, 201, dtype="float32")[:, None]
truth = exact(grid)
error = np.mean((model.predict(grid, verbose=0) - truth) ** 2)
print("SCORE", round(1 - float(error / truth.var()), 4))
