"""Fit a truncated signed distance field of a machined part cross-section."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 3)

TRUNC = 0.22
POINTS = 768
STEPS = 400
EIKONAL = 0.1

holes = np.array([[-0.35, 0.2, 0.18], [0.4, 0.3, 0.14], [0.05, -0.45, 0.2]], dtype=np.float32)


def part_sdf(p):
    q = np.abs(p) - np.array([0.8, 0.75], np.float32)
    box = np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(-1), 0)
    d = box
    for cx, cy, r in holes:
        d = np.maximum(d, r - np.hypot(p[:, 0] - cx, p[:, 1] - cy))
    return d[:, None]


def draw(n):
    p = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
    return p, np.clip(part_sdf(p), -TRUNC, TRUNC).astype(np.float32)


class FieldNet(keras.Model):
    def __init__(self, width=96, trunc=TRUNC):
        super().__init__()
        self.trunc = trunc
        freq = 2.0 ** np.arange(4) * np.pi
        self.freq = tf.constant(freq, tf.float32)
        self.hidden = [keras.layers.Dense(width, activation="softplus") for _ in range(3)]
        self.out = keras.layers.Dense(1, kernel_initializer=keras.initializers.RandomNormal(stddev=0.004))

    def call(self, p):
        angles = tf.reshape(p[:, :, None] * self.freq, (-1, 8))
        h = tf.concat([p, tf.sin(angles), tf.cos(angles)], axis=-1)
        for layer in self.hidden:
            h = layer(h)
        return tf.clip_by_value(self.out(h), -self.trunc, self.trunc)


net = FieldNet()
net(tf.zeros((4, 2)))
opt = keras.optimizers.Adam(4e-4)
opt.build(net.trainable_variables)


@tf.function(jit_compile=True)
def update(points, target):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(points)
            field = net(points)
        slope = inner.gradient(field, points)
        fit = tf.reduce_mean(tf.abs(field - target))
        eikonal = tf.reduce_mean(tf.square(tf.norm(slope, axis=-1) - 1.0))
        total = fit + EIKONAL * eikonal
    grads = outer.gradient(total, net.trainable_variables)
    opt.apply(grads, net.trainable_variables)
    return fit, eikonal


gradwatch.watch(net)
for step in range(STEPS):
    pts, sdf = draw(POINTS)
    fit, eik = update(tf.constant(pts), tf.constant(sdf))
    if step % 50 == 0:
        print("step %4d  |d| error %.4f  eikonal %.4f" % (step, fit, eik))
print("last", float(fit), float(eik))
