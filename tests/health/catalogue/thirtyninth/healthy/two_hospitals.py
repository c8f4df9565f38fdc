"""Domain-adversarial training: a diagnosis model whose features must not tell from which hospital a record comes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

D = 20
signal, shift = rng.normal(size=D), 2.0 * rng.normal(size=D)
signal /= np.linalg.norm(signal)


def records(n, hospital):
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, D)) + np.outer(2 * y - 1, 1.8 * signal)
    if hospital == 1:
        x = x + shift
    return x.astype("float32"), y.astype("float32")


xs, ys = records(3000, 0)
xt, yt = records(3000, 1)
x_test, y_test = records(1500, 1)


@tf.custom_gradient
def reverse(x):
    return tf.identity(x), lambda g: -0.5 * g


class Reverse(layers.Layer):
    def call(self, x):
        return reverse(x)


inp = keras.Input((D,))
f = layers.Dense(32, activation="relu")(inp)
f = layers.Dense(16, activation="relu")(f)
diagnosis = layers.Dense(1)(f)
hospital = layers.Dense(1)(layers.Dense(32, activation="relu")(Reverse()(f)))
model = keras.Model(inp, [diagnosis, hospital])
opt = keras.optimizers.Adam(1e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(a, y, b):
    n = tf.shape(a)[0]
    origin = tf.concat([tf.zeros([n, 1]), tf.ones([tf.shape(b)[0], 1])], 0)
    with tf.GradientTape() as tape:
        diag, hosp = model(tf.concat([a, b], 0), training=True)
        task = bce(y[:, None], diag[:n])
        domain = bce(origin, hosp)
        loss = task + domain
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return task, domain


src = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(3000, seed=seed).repeat().batch(64)
tgt = tf.data.Dataset.from_tensor_slices(xt).shuffle(3000, seed=seed + 1).repeat().batch(64)
for i, ((a, y), b) in enumerate(tf.data.Dataset.zip(src, tgt).take(1200)):
    t, d = step(a, y, b)
    if i % 200 == 0:
        print(i, float(t), float(d))
p = model.predict(x_test, verbose=0)[0][:, 0] > 0
print("SCORE new_hospital_accuracy %.4f" % (p == y_test).mean())
