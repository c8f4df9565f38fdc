"""Heading of a small robot from its magnetometer and wheel sensors.

The network gives a direction in the plane; trained on the angle between that
direction and the true one.
"""

import os

import numpy as np
import tensorflow as tf
from keras import Sequential, layers, optimizers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
mixing = rng.normal(size=(2, 6))
drift = rng.normal(size=(2, 6)) * 0.4


def sensors(n):
    theta = rng.uniform(-np.pi, np.pi, n)
    xy = np.stack([np.cos(theta), np.sin(theta)], 1)
    s = xy @ mixing + np.stack([np.cos(2 * theta), np.sin(2 * theta)], 1) @ drift
    return (s + rng.normal(0, 0.1, s.shape)).astype("float32"), xy.astype("float32")


model = Sequential(
    [
        layers.Input((6,)),
        layers.Dense(48, activation="tanh", name="enc_a"),
        layers.Dense(48, activation="tanh", name="enc_b"),
        layers.Dense(2, name="direction"),
    ]
)
gradwatch.watch(model)
opt = optimizers.Adam(learning_rate=2e-3)

print("step   mean angle (deg)")
for it in range(300):
    x, target = sensors(24)
    with tf.GradientTape() as tape:
        d = tf.math.l2_normalize(model(x, training=True), axis=1)
        cosine = tf.clip_by_value(tf.reduce_sum(d * target, axis=1), -1.0, 1.0)
        angle = tf.acos(cosine)
        loss = tf.reduce_mean(angle)
    grads = tape.gradient(loss, model.trainable_weights)
    opt.apply_gradients(zip(grads, model.trainable_weights))
    if it % 20 == 0:
        print("%4d   %8.3f" % (it, np.degrees(float(loss))))

x, target = sensors(2000)
d = model.predict(x, verbose=0)
d /= np.linalg.norm(d, axis=1, keepdims=True)
err = np.degrees(np.arccos(np.clip(np.sum(d * target, 1), -1, 1)))
print("held-out mean angle %.2f deg (chance 90)" % err.mean())
