"""Self-supervised embedding of bearing vibration snippets (SimSiam), judged with a linear probe."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

LENGTH, CLASSES = 128, 6
BATCH, STEPS = 128, 350


def make_snippets(n):
    """Each fault class is a carrier frequency with its own rate of impacts."""
    y = rng.integers(0, CLASSES, n)
    t = np.arange(LENGTH) / LENGTH
    carrier = np.array([10, 14, 18, 10, 14, 18])[y][:, None]
    rate = np.array([2, 2, 2, 5, 5, 5])[y][:, None]
    phase = rng.uniform(0, 2 * np.pi, (n, 2))
    env = 0.5 * (1 + np.cos(2 * np.pi * rate * t + phase[:, :1])) ** 2
    x = env * np.sin(2 * np.pi * carrier * t + phase[:, 1:])
    x += 0.4 * rng.normal(size=x.shape)
    return x[..., None].astype("float32"), y


x_pool, y_pool = make_snippets(4000)
x_test, y_test = make_snippets(1500)


def augment(x):
    shift = tf.random.uniform([], 0, LENGTH, dtype=tf.int32)
    x = tf.roll(x, shift, axis=1)
    gain = tf.random.uniform([tf.shape(x)[0], 1, 1], 0.6, 1.4)
    return gain * x + 0.2 * tf.random.normal(tf.shape(x))


encoder = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(24, 9, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv1D(48, 9, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
        layers.Dense(64, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(32),
    ],
    name="encoder",
)

predictor = keras.Sequential(
    [
        keras.Input((32,)),
        layers.Dense(16, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(32),
    ],
    name="predictor",
)

gradwatch.watch(encoder, predictor)
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, STEPS), momentum=0.9, weight_decay=5e-4)
variables = encoder.trainable_variables + predictor.trainable_variables
optimizer.build(variables)


def negative_cosine(p, z):
    p = tf.math.l2_normalize(p, axis=1)
    z = tf.math.l2_normalize(z, axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


@tf.function
def train_step(x):
    a, b = augment(x), augment(x)
    with tf.GradientTape() as tape:
        z_a, z_b = encoder(a, training=True), encoder(b, training=True)
        p_a, p_b = predictor(z_a, training=True), predictor(z_b, training=True)
        loss = 0.5 * (negative_cosine(p_a, z_b) + negative_cosine(p_b, z_a))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for step in range(STEPS):
    batch = x_pool[rng.integers(0, len(x_pool), BATCH)]
    loss = train_step(tf.constant(batch))
    if step % 100 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  loss {float(loss):.4f}")


def embed(x):
    return tf.math.l2_normalize(encoder.predict(x, batch_size=500, verbose=0), axis=1).numpy()


def with_bias(z):
    return np.concatenate([z, np.ones((len(z), 1))], axis=1)


z_fit, z_test = with_bias(embed(x_pool[:120])), with_bias(embed(x_test))
targets = np.eye(CLASSES)[y_pool[:120]]
w = np.linalg.solve(z_fit.T @ z_fit + 1.0 * np.eye(z_fit.shape[1]), z_fit.T @ targets)
print("SCORE probe_accuracy", round(float(np.mean((z_test @ w).argmax(1) == y_test)), 4))
