"""Regress the bearing of a radio source from phase differences of a small antenna array, as a unit vector."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

M = 6
ang = np.arange(M) * 2 * np.pi / M
array_xy = 0.45 * np.stack([np.cos(ang), np.sin(ang)], -1)


def scene(n):
    theta = rng.uniform(-np.pi, np.pi, n)
    d = np.stack([np.cos(theta), np.sin(theta)], -1)
    phase = 2 * np.pi * d @ array_xy.T + 0.05 * rng.normal(size=(n, M))
    phase = phase - phase[:, :1]
    x = np.concatenate([np.cos(phase), np.sin(phase)], -1)
    return x.astype("float32"), d.astype("float32")


x, d = scene(6000)
xt, dt = scene(1500)

model = keras.Sequential(
    [
        keras.Input((2 * M,)),
        layers.Dense(64, activation="gelu"),
        layers.Dense(64, activation="gelu"),
        layers.Dense(2),
        layers.UnitNormalization(),
    ]
)
opt = keras.optimizers.Adam(2e-3)


def angular_error(d_true, d_pred):
    """Angle (radian) between two directions."""
    cos = tf.reduce_sum(d_true * d_pred, axis=-1)
    return tf.acos(tf.clip_by_value(cos, -1.0, 1.0))


gradwatch.watch(model)


@tf.function
def train_step(xb, db):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(angular_error(db, model(xb, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, d)).shuffle(6000, seed=seed).batch(64).repeat(12)
for i, (xb, db) in enumerate(ds):
    loss = train_step(xb, db)
    if i % 200 == 0:
        print("step", i, "loss", float(loss))

p = model.predict(xt, verbose=0)
err = np.degrees(np.arctan2(p[:, 1] * dt[:, 0] - p[:, 0] * dt[:, 1], (p * dt).sum(-1)))
print("SCORE mean_abs_bearing_error_deg", round(float(np.mean(np.abs(err))), 3))
