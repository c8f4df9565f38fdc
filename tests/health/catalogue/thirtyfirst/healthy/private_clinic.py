"""Predict readmission from clinic records with differentially private SGD (per-sample clipping and Gaussian noise)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

P = 20
w1, w2 = np.random.default_rng(3).normal(size=(2, P))


def records(n):
    x = rng.normal(size=(n, P))
    logit = 0.7 * x @ w1 + 0.25 * (x @ w2) ** 2 / P**0.5 - 1.5
    return x.astype("float32"), (rng.uniform(size=n) < 1 / (1 + np.exp(-logit))).astype("float32")


x, y = records(8000)
xt, yt = records(2000)
CLIP, SIGMA, BATCH = 0.5, 1.0, 128

model = keras.Sequential([keras.Input((P,)), layers.Dense(24, activation="tanh"), layers.Dense(1)])
opt = keras.optimizers.SGD(0.4)
gradwatch.watch(model)


@tf.function
def private_step(xb, yb):
    with tf.GradientTape() as tape:
        z = model(xb, training=True)[:, 0]
        losses = tf.nn.sigmoid_cross_entropy_with_logits(yb, z)
    jac = tape.jacobian(losses, model.trainable_variables)
    norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.reshape(j, (BATCH, -1)) ** 2, 1) for j in jac]) + 1e-12)
    scale = tf.minimum(1.0, CLIP / norm)
    grads = []
    for j in jac:
        s = tf.tensordot(scale, j, 1)
        grads.append((s + SIGMA * CLIP * tf.random.normal(tf.shape(s))) / BATCH)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return tf.reduce_mean(losses)


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8000, seed=seed).batch(BATCH, drop_remainder=True).repeat(12)
for i, (xb, yb) in enumerate(ds):
    loss = private_step(xb, yb)
    if i % 100 == 0:
        print("step", i, "loss", float(loss))

s = model.predict(xt, verbose=0)[:, 0]
order = np.argsort(np.argsort(s))
n1 = yt.sum()
auc = (order[yt == 1].sum() - n1 * (n1 - 1) / 2) / (n1 * (len(yt) - n1))
print("SCORE auc", round(float(auc), 4))
