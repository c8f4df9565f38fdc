"""Learns representations of small shape images from pairs of augmented views with SimSiam, without labels."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_CLASSES, SIZE = 6, 20
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def draw(kind, n):
    cx = rng.uniform(8, 12, (n, 1, 1))
    cy = rng.uniform(8, 12, (n, 1, 1))
    r = rng.uniform(4, 6.5, (n, 1, 1))
    dx, dy = xx - cx, yy - cy
    if kind == 0:
        img = dx**2 + dy**2 < r**2
    elif kind == 1:
        img = np.abs(np.sqrt(dx**2 + dy**2) - r) < 1.2
    elif kind == 2:
        img = np.maximum(np.abs(dx), np.abs(dy)) < r * 0.85
    elif kind == 3:
        img = (np.minimum(np.abs(dx), np.abs(dy)) < 1.3) & (np.maximum(np.abs(dx), np.abs(dy)) < r)
    elif kind == 4:
        img = (np.abs(dx + dy) < 2) & (np.abs(dx) < r)
    else:
        img = (np.mod(dy, 4) < 2) & (np.maximum(np.abs(dx), np.abs(dy)) < r)
    return img.astype("float32")


def dataset(per):
    x = np.concatenate([draw(k, per) for k in range(N_CLASSES)])
    y = np.repeat(np.arange(N_CLASSES), per)
    p = rng.permutation(len(x))
    return x[p][..., None], y[p]


x_train, y_train = dataset(500)
x_test, y_test = dataset(100)


def augment(x):
    x = tf.pad(x, [[0, 0], [2, 2], [2, 2], [0, 0]])
    x = tf.image.random_crop(x, (tf.shape(x)[0], SIZE, SIZE, 1))
    gain = tf.random.uniform((tf.shape(x)[0], 1, 1, 1), 0.6, 1.4)
    return x * gain + tf.random.normal(tf.shape(x), stddev=0.25)


encoder = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(24, 3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(48, 3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Flatten(),
        layers.Dense(64, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(64, use_bias=False),
        layers.BatchNormalization(center=False, scale=False),
    ],
    name="encoder",
)
predictor = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(16, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(64),
    ],
    name="predictor",
)
view = keras.Input((SIZE, SIZE, 1))
z_out = encoder(view)
model = keras.Model(view, [z_out, predictor(z_out)])
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.05, 600), momentum=0.9, weight_decay=1e-4)


def negative_cosine(p, z):
    p = tf.math.l2_normalize(p, axis=1)
    z = tf.math.l2_normalize(tf.stop_gradient(z), axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        z1, p1 = model(augment(x), training=True)
        z2, p2 = model(augment(x), training=True)
        loss = 0.5 * negative_cosine(p1, z2) + 0.5 * negative_cosine(p2, z1)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for step in range(600):
    loss = train_step(tf.constant(x_train[rng.integers(0, len(x_train), 96)]))
    if step % 100 == 0:
        print("step", step, "loss", float(loss))


def features(x):
    z = encoder.predict(x, verbose=0)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


noise = 0.15 * rng.normal(size=x_test.shape).astype("float32")
sim = features(x_test + noise) @ features(x_train[:600]).T
near = y_train[:600][np.argsort(-sim, axis=1)[:, :5]]
vote = np.array([np.bincount(row, minlength=N_CLASSES).argmax() for row in near])
print("SCORE knn_accuracy", float(np.mean(vote == y_test)))
