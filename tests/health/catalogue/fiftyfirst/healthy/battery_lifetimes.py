"""Cycles to failure of laptop batteries, many still alive: a Weibull survival network (eager loop)."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def fleet(n):
    depth = rng.uniform(0.2, 1.0, n)  # depth of discharge
    heat = rng.normal(30, 8, n)
    rate = rng.gamma(4, 0.25, n)
    brand = rng.integers(4, size=n)
    idle = rng.random(n)
    quality = np.array([0.5, 0.1, -0.2, -0.6])[brand]
    log_scale = (
        6.8 - 1.4 * depth**2 - 0.03 * np.maximum(heat - 32, 0) - 0.35 * np.log(rate + 0.2) + quality * (1 - idle)
    )
    life = np.exp(log_scale) * rng.weibull(2.5, n)
    watched = rng.uniform(100, 1200, n)
    time = np.minimum(life, watched)
    died = (life <= watched).astype("float32")
    x = np.column_stack([depth, (heat - 30) / 8, rate, idle, np.eye(4)[brand]])
    return x.astype("float32"), time.astype("float32"), died


x_train, t_train, e_train = fleet(6000)
x_test, t_test, e_test = fleet(1500)
print("share observed to fail:", e_train.mean())

net = tf.keras.Sequential(
    [
        tf.keras.layers.Input((8,)),
        tf.keras.layers.Dense(64, activation="elu"),
        tf.keras.layers.Dense(64, activation="elu"),
        tf.keras.layers.Dense(2, bias_initializer=tf.keras.initializers.Constant([5.5, 0.0])),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
gradwatch.watch(net)


def negative_log_likelihood(out, t, died):
    log_scale, log_shape = out[:, 0], tf.clip_by_value(out[:, 1], -2.0, 2.0)
    shape = tf.exp(log_shape)
    z = tf.math.log(t) - log_scale
    hazard = tf.exp(tf.minimum(shape * z, 30.0))
    log_density = log_shape + (shape - 1.0) * z - log_scale
    return tf.reduce_sum(hazard - died * log_density)


BATCH = 200
for epoch in range(20):
    order = rng.permutation(len(x_train))
    total = 0.0
    for i in range(0, len(order), BATCH):
        idx = order[i : i + BATCH]
        with tf.GradientTape() as tape:
            loss = negative_log_likelihood(net(x_train[idx]), t_train[idx], e_train[idx])
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        total += float(loss)
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1:2d}  negative log likelihood of all batteries {total:.1f}")

scale = net(x_test).numpy()[:, 0]
died = np.flatnonzero(e_test)
later = t_test[None, :] > t_test[died][:, None]
higher = scale[None, :] > scale[died][:, None]
print("SCORE concordance", round(float((later & higher).sum() / later.sum()), 4))
