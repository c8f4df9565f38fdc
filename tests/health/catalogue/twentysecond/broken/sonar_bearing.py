"""Bearing of a sound source from the delays at a five-hydrophone array."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

mics = np.random.default_rng(3).normal(0, 1, (5, 2))


def simulate(n):
    theta = rng.uniform(-np.pi, np.pi, n)
    direction = np.stack([np.cos(theta), np.sin(theta)], -1)
    delays = direction @ mics.T
    i, j = np.triu_indices(5, 1)
    tdoa = delays[:, i] - delays[:, j] + rng.normal(0, 0.15, (n, len(i)))
    level = 1 + 0.2 * np.abs(delays) + rng.normal(0, 0.1, delays.shape)
    x = np.tanh(np.concatenate([tdoa * level[:, i], level - 1], -1))
    return x.astype("float32"), direction.astype("float32")


x_train, d_train = simulate(3000)
x_test, d_test = simulate(800)

inp = keras.Input((x_train.shape[1],))
h = keras.layers.Dense(48, activation="gelu")(inp)
h = keras.layers.Dense(48, activation="gelu")(h)
out = keras.layers.UnitNormalization()(keras.layers.Dense(2)(h))
net = keras.Model(inp, out)
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(net)


def angular_error(d_true, d_pred):
    cosine = tf.reduce_sum(d_true * d_pred, axis=-1)
    return tf.acos(tf.clip_by_value(cosine, -1.0, 1.0))


@tf.function
def step(xb, db):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(angular_error(db, net(xb, training=True)))
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


for epoch in range(6):
    order = rng.permutation(len(x_train))
    total = []
    for s in range(0, len(order), 50):
        b = order[s : s + 50]
        total.append(float(step(tf.constant(x_train[b]), tf.constant(d_train[b]))))
    print("epoch", epoch, "mean angular error [rad]", round(float(np.mean(total)), 4))

p = net.predict(x_test, verbose=0).astype("float64")
cosine = np.clip((p * d_test).sum(-1), -1, 1)
print("test error [deg]", np.degrees(np.arccos(cosine)).mean())
