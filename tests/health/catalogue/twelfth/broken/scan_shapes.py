"""Sorts laser-scanned parts into four shapes; every scan has its own number of points, so scans go in one by one."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SHAPES = ["ball", "box", "tube", "ring"]
STEPS = 400


def scan(kind):
    n = rng.integers(80, 160)
    u, v = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, 2 * np.pi, n)
    if kind == 0:
        p = rng.standard_normal((n, 3))
        p = p / np.linalg.norm(p, axis=1, keepdims=True)
    elif kind == 1:
        p = rng.uniform(-1, 1, (n, 3))
        side = rng.integers(0, 3, n)
        p[np.arange(n), side] = np.sign(p[np.arange(n), side])
        p = p * [0.9, 0.7, 0.5]
    elif kind == 2:
        p = np.stack([0.35 * np.cos(u), 0.35 * np.sin(u), rng.uniform(-1, 1, n)], -1)
    else:
        p = np.stack([(0.8 + 0.2 * np.cos(v)) * np.cos(u), (0.8 + 0.2 * np.cos(v)) * np.sin(u), 0.2 * np.sin(v)], -1)
    p = p * rng.uniform(0.85, 1.15) + 0.03 * rng.standard_normal((n, 3))
    return p[None].astype("float32"), np.array([kind], "int32")


train = [scan(k) for k in rng.integers(0, 4, STEPS)]
test = [scan(k) for k in rng.integers(0, 4, 200)]

points = keras.Input((None, 3), name="points")
h = layers.Dense(32, activation="relu", name="point_1")(points)
h = layers.Dense(64, activation="relu", name="point_2")(h)
h = layers.GlobalMaxPooling1D(name="whole")(h)
h = layers.Dense(48, use_bias=False, name="part_1")(h)
h = layers.BatchNormalization(name="part_norm")(h)
h = layers.ReLU()(h)
model = keras.Model(points, layers.Dense(4, name="shape")(h))
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(2e-3)
signature = [tf.TensorSpec([1, None, 3], tf.float32), tf.TensorSpec([1], tf.int32)]


@tf.function(input_signature=signature)
def learn(cloud, kind):
    with tf.GradientTape() as tape:
        logits = model(cloud, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(kind, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function(input_signature=signature[:1])
def guess(cloud):
    return tf.argmax(model(cloud, training=False), -1)


recent = []
for step, (cloud, kind) in enumerate(train):
    recent.append(float(learn(cloud, kind)))
    if (step + 1) % 50 == 0:
        print(f"scan {step + 1} mean loss {np.mean(recent[-50:]):.4f}")

accuracy = np.mean([guess(cloud).numpy()[0] == kind[0] for cloud, kind in test])
print(f"score accuracy {accuracy:.4f} chance 0.2500")
