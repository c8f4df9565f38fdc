"""Trains a Hamiltonian network whose energy surface gives the motion of a swinging spring."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def field(q, p):
    return p, -np.sin(q) - 0.2 * q


def observe(n):
    q = rng.uniform(-2.0, 2.0, n)
    p = rng.uniform(-2.0, 2.0, n)
    dq, dp = field(q, p)
    state = np.stack([q, p], axis=1)
    rate = np.stack([dq, dp], axis=1) + rng.normal(0, 0.02, (n, 2))
    return state.astype("float32"), rate.astype("float32")


energy_net = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(1, use_bias=False),
    ],
    name="energy",
)
steps = 3000
schedule = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=steps, alpha=0.02)
optimizer = keras.optimizers.Adam(schedule)
gradwatch.watch(energy_net)


def motion(state, training=False):
    with tf.GradientTape() as inner:
        inner.watch(state)
        energy = tf.reduce_sum(energy_net(state, training=training))
    slope = inner.gradient(energy, state)
    return tf.stack([slope[:, 1], -slope[:, 0]], axis=1)


@tf.function
def train_step(state, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(motion(state, training=True) - rate))
    grads = tape.gradient(loss, energy_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, energy_net.trainable_variables))
    return loss


state, rate = observe(6000)
data = tf.data.Dataset.from_tensor_slices((state, rate)).shuffle(6000, seed=SEED).repeat().batch(128)
for step, (s, r) in enumerate(data.take(steps)):
    loss = train_step(s, r)
    if step % 300 == 0:
        print(f"step {step} loss {float(loss):.5f}")

test_state, _ = observe(2000)
true_rate = np.stack(field(test_state[:, 0], test_state[:, 1]), axis=1)
pred = motion(tf.constant(test_state)).numpy()
r2 = 1.0 - np.mean((pred - true_rate) ** 2) / np.var(true_rate)
print(f"SCORE r2 {r2:.4f}")
