"""Self-supervised (two-view, no negatives) representation of wrist accelerometer windows, judged by nearest neighbours."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, K = 64, 12
proto = np.random.default_rng(7).normal(size=(K, 4, 3))


def windows(n):
    y = rng.integers(0, K, n)
    t = np.linspace(0, 2 * np.pi, T)
    basis = np.stack([np.sin((k + 1) * t) for k in range(4)])
    x = np.einsum("nkc,kt->ntc", proto[y] * rng.uniform(0.7, 1.3, (n, 1, 1)), basis)
    sway = np.sin(rng.uniform(0.5, 3, (n, 1, 1)) * t[:, None] + rng.uniform(0, 6.28, (n, 1, 3)))
    return (x + 1.5 * sway + rng.normal(0, 1.0, x.shape)).astype("float32"), y


x_train, y_train = windows(4000)
x_test, y_test = windows(1000)

encoder = keras.Sequential(
    [
        keras.Input((T, 3)),
        layers.Conv1D(24, 5, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv1D(48, 5, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(32),
    ],
    name="encoder",
)
predictor = keras.Sequential(
    [
        keras.Input((32,)),
        layers.Dense(16, activation="relu"),
        layers.Dense(32),
    ],
    name="predictor",
)
inp = keras.Input((T, 3))
z_out = encoder(inp)
model = keras.Model(inp, [z_out, predictor(z_out)])
opt = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.05, 900), momentum=0.9)
gradwatch.watch(model)


def view(x):
    b = tf.shape(x)[0]
    x = x * tf.random.uniform([b, 1, 1], 0.7, 1.3) + tf.random.normal(tf.shape(x), stddev=0.4)
    keep = tf.cast(tf.random.uniform([b, T, 1]) > 0.2, tf.float32)
    return x * keep


def similarity(p, z):
    p = tf.math.l2_normalize(p, axis=1)
    z = tf.math.l2_normalize(z, axis=1)
    return tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


@tf.function
def step(x):
    a, b = view(x), view(x)
    with tf.GradientTape() as tape:
        za, pa = model(a, training=True)
        zb, pb = model(b, training=True)
        loss = -0.5 * (similarity(pa, zb) + similarity(pb, za))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(x_train).shuffle(4000, seed=seed).repeat().batch(64)
for i, batch in enumerate(ds.take(900)):
    loss = step(batch)
    if i % 150 == 0:
        print(i, float(loss))


def embed(x):
    z = encoder.predict(x, verbose=0)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


sim = embed(x_test) @ embed(x_train).T
votes = y_train[np.argsort(-sim, 1)[:, :15]]
pred = np.array([np.bincount(v, minlength=K).argmax() for v in votes])
print("SCORE knn_accuracy %.4f" % (pred == y_test).mean())
