"""Bearing-fault diagnosis carried from a test rig to a factory line (adversarial alignment)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 9)

BANDS, FAULTS, HALF = 64, 4, 32


def spectra(n, factory):
    fault = rng.integers(0, FAULTS, n)
    freq = np.arange(BANDS)
    lines = np.zeros((n, BANDS))
    for harmonic in (1, 2, 3):
        centre = (6 + 4 * fault) * harmonic * rng.normal(1.0, 0.02, n)
        lines += np.exp(-0.5 * ((freq - centre[:, None]) / 1.3) ** 2) / harmonic
    if factory:
        lines = lines * rng.uniform(0.5, 0.9, (n, 1)) + 0.35 * np.exp(-freq / 20.0)
    lines += np.abs(rng.normal(0, 0.15, lines.shape))
    return np.log1p(lines).astype("float32"), fault.astype("int32")


STRENGTH = 0.02


@tf.custom_gradient
def oppose(features):
    def backward(upstream):
        return -STRENGTH * upstream / tf.norm(upstream, axis=-1, keepdims=True)

    return tf.identity(features), backward


encoder = keras.Sequential(
    [
        keras.Input((BANDS,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(32, activation="tanh"),
    ],
    name="encoder",
)
diagnosis = keras.Sequential([keras.Input((32,)), layers.Dense(FAULTS)], name="diagnosis")
critic = keras.Sequential([keras.Input((32,)), layers.Dense(48, activation="elu"), layers.Dense(1)], name="critic")

rig_x, rig_y = spectra(3000, factory=False)
line_x, _ = spectra(3000, factory=True)
opt_main = keras.optimizers.Adam(4e-4)
opt_critic = keras.optimizers.SGD(0.02, momentum=0.8)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
side = tf.constant([1.0] * HALF + [-1.0] * HALF)[:, None]
main_vars = encoder.trainable_variables + diagnosis.trainable_variables

gradwatch.watch(encoder, diagnosis, critic)
for step in range(360):
    i = rng.integers(0, len(rig_x), HALF)
    j = rng.integers(0, len(line_x), HALF)
    batch = np.concatenate([rig_x[i], line_x[j]])
    with tf.GradientTape(persistent=True) as tape:
        z = encoder(batch, training=True)
        task = ce(rig_y[i], diagnosis(z[:HALF], training=True))
        margin = side * critic(oppose(z), training=True)
        hinge = tf.reduce_mean(tf.nn.relu(1.0 - margin))
        total = task + hinge
    g_main = tape.gradient(total, main_vars)
    g_critic = tape.gradient(hinge, critic.trainable_variables)
    del tape
    opt_main.apply_gradients(zip(g_main, main_vars))
    opt_critic.apply_gradients(zip(g_critic, critic.trainable_variables))
    if step % 50 == 0:
        print(f"{step:4d} task {float(task):.4f}  critic hinge {float(hinge):.4f}")
