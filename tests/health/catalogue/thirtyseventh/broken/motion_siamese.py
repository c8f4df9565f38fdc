"""Learns fingerprints of wrist-sensor windows from two augmented views, to find a window again among many."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN = 64
GESTURES = 8
BATCH = 64


def windows(n):
    g = rng.integers(0, GESTURES, n)
    t = np.arange(LEN) / LEN
    f1 = 2 + (g % 4) * 1.5
    ratio = np.where(g < 4, 2.0, 3.0)
    ph = rng.uniform(0, 2 * np.pi, (n, 3, 1))
    amp = rng.uniform(0.7, 1.3, (n, 3, 1))
    f = (f1 + rng.normal(0, 0.12, n))[:, None, None]
    base = np.sin(2 * np.pi * f * t + ph)
    over = 0.7 * np.sin(2 * np.pi * f * ratio[:, None, None] * t + 2 * ph)
    x = amp * (base + over) + rng.normal(0, 0.4, (n, 3, LEN))
    return x.transpose(0, 2, 1).astype("float32")


x_pool, x_test = windows(6000), windows(500)

encoder = keras.Sequential(
    [
        layers.Input((LEN, 3)),
        layers.Conv1D(32, 7, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Conv1D(48, 7, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32),
    ]
)
projector = keras.Sequential(
    [
        layers.Dense(64, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Dense(32),
    ]
)
predictor = keras.Sequential(
    [
        layers.Dense(16),
        layers.ReLU(),
        layers.Dense(32),
    ]
)
frames = layers.Input((LEN, 3))
z_out = projector(encoder(frames))
model = keras.Model(frames, [z_out, predictor(z_out)])


def augment(x):
    n = tf.shape(x)[0]
    x = x * tf.random.uniform((n, 1, 3), 0.6, 1.5)
    x = tf.roll(x, tf.random.uniform((), 0, LEN, tf.int32), axis=1)
    x = x * tf.sign(tf.random.uniform((n, 1, 1), -1, 1))
    keep = tf.cast(tf.random.uniform((n, LEN, 1)) > 0.1, tf.float32)
    return x * keep + tf.random.normal(tf.shape(x), stddev=0.3)


def similarity_loss(p, z):
    p = tf.math.l2_normalize(p, axis=1)
    z = tf.math.l2_normalize(z, axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


opt = keras.optimizers.SGD(0.1, momentum=0.9, weight_decay=1e-4)
gradwatch.watch(model)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        z1, p1 = model(augment(x), training=True)
        z2, p2 = model(augment(x), training=True)
        loss = 0.5 * similarity_loss(p1, z2) + 0.5 * similarity_loss(p2, z1)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices(x_pool).shuffle(6000, seed=seed).batch(BATCH, drop_remainder=True)
for epoch in range(8):
    for x in batches:
        loss = train_step(x)
    print("epoch", epoch, "loss", float(loss))

view_a = model(augment(x_test))[0].numpy()
view_b = model(augment(x_test))[0].numpy()
view_a = view_a / np.linalg.norm(view_a, axis=1, keepdims=True)
view_b = view_b / np.linalg.norm(view_b, axis=1, keepdims=True)
sim = view_a @ view_b.T
rank = (sim > np.diag(sim)[:, None]).sum(1)
print("SCORE recall_at_10_of_500", round(float(np.mean(rank < 10)), 4))
