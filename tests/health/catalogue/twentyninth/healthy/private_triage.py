"""Trains a triage classifier on patient records with differential privacy: per-record gradients are clipped and noise is added."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

D, K, BATCH, STEPS = 16, 4, 128, 700
CLIP, SIGMA = 0.3, 1.5
centre = np.random.default_rng(3).normal(size=(K, D)) * 0.45
bend = np.random.default_rng(4).normal(size=(D, D)) / 4


def records(n):
    y = rng.integers(0, K, n)
    z = centre[y] + rng.normal(0, 1.0, (n, D))
    return (z + np.tanh(z @ bend)).astype("float32"), y.astype("int32")


x, y = records(10000)
x_te, y_te = records(3000)

model = keras.Sequential([keras.Input((D,)), layers.Dense(32, activation="tanh"), layers.Dense(K)])
opt = keras.optimizers.SGD(0.08)
gradwatch.watch(model)


@tf.function
def private_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = model(xb, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=logits)
    rows = tape.jacobian(losses, model.trainable_variables)
    flat = [tf.reshape(g, (BATCH, -1)) for g in rows]
    norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(f), 1) for f in flat]))
    scale = tf.minimum(1.0, CLIP / (norm + 1e-6))
    grads = []
    for g, f in zip(rows, flat):
        total = tf.reshape(tf.reduce_sum(f * scale[:, None], 0), g.shape[1:])
        grads.append((total + tf.random.normal(total.shape, stddev=SIGMA * CLIP)) / BATCH)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return tf.reduce_mean(losses)


for step in range(STEPS):
    i = rng.integers(0, len(x), BATCH)
    loss = private_step(tf.constant(x[i]), tf.constant(y[i]))
    if step % 100 == 0:
        print(step, float(loss))

p = model.predict(x_te, batch_size=500, verbose=0).argmax(1)
print("SCORE accuracy", float(np.mean(p == y_te)))
