"""Learns representations of unlabelled wrist-accelerometer windows by a SimSiam network and probes them with a linear classifier."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

L, K, STEPS, BATCH = 64, 6, 700, 64
pattern = np.random.default_rng(11)
AMP = pattern.normal(size=(K, 3, 4)) * 0.7
PH = pattern.uniform(0, 2 * np.pi, (K, 3, 4))


def windows(n):
    y = rng.integers(0, K, n)
    t = np.arange(L)[None, :]
    base = rng.uniform(0.95, 1.05, (n, 1)) * 2 * np.pi * 3 / L
    start = rng.uniform(0, 2 * np.pi, (n, 1))
    x = np.zeros((n, L, 3))
    for ch in range(3):
        for h in range(4):
            x[..., ch] += AMP[y, ch, h][:, None] * np.sin((h + 1) * (base * t + start) + PH[y, ch, h][:, None])
    x += rng.normal(0, 0.4, (n, 1, 3)) + rng.normal(0, 0.6, (n, L, 3))
    return x.astype("float32"), y


x_all, _ = windows(6000)
x_lab, y_lab = windows(400)
x_te, y_te = windows(1500)


def encoder_net():
    i = keras.Input((L, 3))
    h = i
    for f in (24, 48, 64):
        h = layers.Conv1D(f, 5, strides=2, padding="same", use_bias=False)(h)
        h = layers.BatchNormalization()(h)
        h = layers.Activation("relu")(h)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(64, use_bias=False)(h)
    h = layers.BatchNormalization()(h)
    h = layers.Activation("relu")(h)
    h = layers.Dense(64)(h)
    return keras.Model(i, h)


encoder = encoder_net()
predictor = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(32, use_bias=False),
        layers.BatchNormalization(),
        layers.Activation("relu"),
        layers.Dense(64),
    ]
)
inp = keras.Input((L, 3))
z_out = encoder(inp)
model = keras.Model(inp, [z_out, predictor(z_out)])
opt = keras.optimizers.SGD(0.05, momentum=0.9)
gradwatch.watch(model)


def view(x):
    n = tf.shape(x)[0]
    x = x * tf.random.uniform((n, 1, 1), 0.7, 1.3) + tf.random.normal((n, 1, 3), stddev=0.4)
    x = tf.roll(x, tf.random.uniform((), 0, L, tf.int32), axis=1)
    return x + tf.random.normal(tf.shape(x), stddev=0.3)


def distance(p, z):
    p = tf.math.l2_normalize(p, axis=-1)
    z = tf.math.l2_normalize(z, axis=-1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=-1))


@tf.function
def train_step(x):
    a, b = view(x), view(x)
    with tf.GradientTape() as tape:
        z1, p1 = model(a, training=True)
        z2, p2 = model(b, training=True)
        loss = 0.5 * distance(p1, z2) + 0.5 * distance(p2, z1)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(tf.constant(x_all[rng.integers(0, len(x_all), BATCH)]))
    if step % 100 == 0:
        print(step, float(loss))


def features(x):
    z = encoder.predict(x, batch_size=500, verbose=0)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    return np.concatenate([z, np.ones((len(z), 1))], 1)


A, B = features(x_lab), features(x_te)
W = np.linalg.solve(A.T @ A + 0.1 * np.eye(A.shape[1]), A.T @ np.eye(K)[y_lab])
print("SCORE probe_accuracy", float(np.mean((B @ W).argmax(1) == y_te)))
