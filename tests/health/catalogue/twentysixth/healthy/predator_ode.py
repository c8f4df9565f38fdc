"""Learn the vector field of a predator-prey system from noisy short trajectories, by backpropagating through an RK4 solver."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
DT, LENGTH, STEPS, BATCH = 0.1, 16, 600, 12


def true_field(z):
    prey, hunter = z[..., 0], z[..., 1]
    return np.stack([1.1 * prey - 0.6 * prey * hunter, -0.9 * hunter + 0.5 * prey * hunter], axis=-1)


def rk4(field, z, dt):
    k1 = field(z)
    k2 = field(z + 0.5 * dt * k1)
    k3 = field(z + 0.5 * dt * k2)
    k4 = field(z + dt * k3)
    return z + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def simulate(n, length):
    z = rng.uniform(0.6, 3.0, size=(n, 2))
    path = [z]
    for _ in range(length):
        z = rk4(true_field, z, DT)
        path.append(z)
    return np.stack(path, axis=1)


clean = simulate(300, LENGTH)
train_paths = (clean + rng.normal(0, 0.03, size=clean.shape)).astype("float32")
test_paths = simulate(100, 40).astype("float32")

field = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(2, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01)),
    ]
)
rate = keras.optimizers.schedules.ExponentialDecay(1e-2, decay_steps=100, decay_rate=0.6)
optimizer = keras.optimizers.Adam(rate)


def unroll(start, length):
    z = start
    path = []
    for _ in range(length):
        z = rk4(lambda s: field(s, training=True), z, DT)
        path.append(z)
    return tf.stack(path, axis=1)


@tf.function
def train_step(paths, horizon_weight):
    with tf.GradientTape() as tape:
        guess = unroll(paths[:, 0], LENGTH)
        error = tf.reduce_sum(tf.square(guess - paths[:, 1:]), axis=-1)
        loss = tf.reduce_sum(horizon_weight * tf.reduce_mean(error, axis=0)) / tf.reduce_sum(horizon_weight)
    grads = tape.gradient(loss, field.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 0.5)
    optimizer.apply_gradients(zip(grads, field.trainable_variables))
    return loss, norm


gradwatch.watch(field)
for step in range(STEPS):
    reach = 3.0 + LENGTH * min(1.0, step / 300)
    weight = np.exp(-np.arange(LENGTH) / reach).astype("float32")
    batch = train_paths[rng.integers(0, len(train_paths), size=BATCH)]
    loss, norm = train_step(tf.constant(batch), tf.constant(weight))
    if step % 60 == 0 or step == STEPS - 1:
        print("step %3d  loss %.5f  gradient norm %.3f" % (step, float(loss), float(norm)))

guess = unroll(tf.constant(test_paths[:, 0]), 40).numpy()
truth = test_paths[:, 1:]
print("SCORE r2_rollout %.4f" % (1.0 - np.mean((guess - truth) ** 2) / np.var(truth)))
